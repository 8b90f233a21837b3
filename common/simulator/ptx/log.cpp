// The error log of a JIT compilation, in ptxas's sentences; and what a failed call says of it, with the line and a
// caret.
#include "common/simulator/ptx/cursor.hpp"
#include "common/simulator/ptx/load.hpp"

#include <algorithm>

namespace cudasim {
namespace {

constexpr std::size_t kWidest = 80;  // columns of a source line that are shown

// Finds lines of a text; fast if their numbers grow.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}
  std::string_view operator[](u32 number) {
    if (number < line_) line_ = 1, begin_ = 0;
    for (; line_ < number; ++line_) {
      const std::size_t end = text_.find('\n', begin_);
      if (end == std::string_view::npos) return {};
      begin_ = end + 1;
    }
    std::string_view line = text_.substr(begin_, text_.find('\n', begin_) - begin_);
    while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
  }

 private:
  std::string_view text_;
  u32 line_ = 1;
  std::size_t begin_ = 0;
};

// The source line and a caret under its `column`; of a long line, the part around it.
std::string excerpt(std::string_view line, u32 column, std::size_t widest) {
  std::size_t at = std::min<std::size_t>(column == 0 ? 0 : column - 1, line.size());
  if (at > widest / 2 && line.size() > widest) {
    const std::size_t skip = at - widest / 2;
    line.remove_prefix(skip);
    at -= skip;
  }
  std::string shown;
  for (char c : line.substr(0, widest)) shown += c >= ' ' && c < 0x7f ? c : ' ';
  while (!shown.empty() && shown.back() == ' ' && shown.size() > at) shown.pop_back();
  return "    " + shown + "\n    " + std::string(at, ' ') + "^\n";
}

}  // namespace

bool ptx::is_fatal(const Diagnostic& error) {
  constexpr std::string_view kFatal[] = {"Parsing error near ",
                                         "Unsupported .version ",
                                         "Unsupported .target ",
                                         "Missing .version ",
                                         "Missing .target ",
                                         "Initial value type mismatch",
                                         "Invalid initial value symbol ",
                                         "Greater number of elements in array initializer"};
  return std::any_of(std::begin(kFatal), std::end(kFatal),
                     [&](std::string_view begin) { return error.message.starts_with(begin); });
}

std::string log_text(std::span<const ptx::Diagnostic> diagnostics, bool fatal) {
  std::string log;
  bool aborted = false;
  for (const ptx::Diagnostic& each : diagnostics) {
    // ptxas ends with these, and names no line for the last two.
    const bool version = each.message.starts_with("Unsupported .version ");
    const bool ends = each.message.starts_with("SM version specified by .target is higher ") ||
                      each.message.starts_with("Unresolved extern function ");
    const bool whole = each.kind == ptx::Diagnostic::whole_text || ends;
    log += "ptxas ";
    if (!whole) log += "application ptx input, line " + std::to_string(each.at.line) + "; ";
    const char* kind = !fatal ? "warning : " : ends || ptx::is_fatal(each) ? "fatal   : " : "error   : ";
    log += kind + each.message + "\n";
    aborted = aborted || !(whole || version);
  }
  if (!fatal) return log;
  if (aborted)
    log += "ptxas fatal   : Ptx assembly aborted due to errors";
  else if (!log.empty())
    log.pop_back();
  return log;
}

std::string reason_text(std::span<const ptx::Diagnostic> errors, std::string_view text) {
  if (errors.empty()) return "";
  const ptx::Diagnostic& first = errors.front();
  std::string reason = "PTX line " + std::to_string(first.at.line) + " is refused: " + first.message;
  if (errors.size() > 1) reason += " (and " + std::to_string(errors.size() - 1) + " more in the error log)";
  const std::string_view line = Lines(text)[first.at.line];
  if (line.empty()) return reason;
  reason += '\n' + excerpt(line, first.at.column, kWidest);
  reason.pop_back();
  return reason;
}

}  // namespace cudasim
