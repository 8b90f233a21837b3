// The error log of a JIT compilation: ptxas's sentences, and below each the line that it is about; and what a failed
// call says of it.
#include "common/simulator/ptx/cursor.hpp"
#include "common/simulator/ptx/load.hpp"

#include <algorithm>

namespace cudasim {
namespace {

constexpr std::size_t kWidest = 100, kReasonWidest = 80;  // columns of a source line that are shown

std::string_view line_of(std::string_view text, u32 number) {
  std::size_t begin = 0;
  for (u32 line = 1; line < number; ++line) {
    begin = text.find('\n', begin);
    if (begin == std::string_view::npos) return {};
    ++begin;
  }
  std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

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

std::string log_text(std::span<const ptx::Diagnostic> diagnostics, std::string_view text, bool fatal) {
  std::string log;
  for (const ptx::Diagnostic& each : diagnostics) {
    log += "ptxas application ptx input, line " + std::to_string(each.at.line) + "; ";
    log += (fatal ? "error   : " : "warning : ") + each.message + "\n";
    const std::string_view line = line_of(text, each.at.line);
    if (!line.empty()) log += excerpt(line, each.at.column, kWidest);
  }
  if (fatal) log += "ptxas fatal   : Ptx assembly aborted due to errors";
  return log;
}

std::string reason_text(std::span<const ptx::Diagnostic> errors, std::string_view text) {
  if (errors.empty()) return "";
  const ptx::Diagnostic& first = errors.front();
  std::string reason = "PTX line " + std::to_string(first.at.line) + " is refused: " + first.message;
  if (errors.size() > 1) reason += " (and " + std::to_string(errors.size() - 1) + " more in the error log)";
  const std::string_view line = line_of(text, first.at.line);
  if (line.empty()) return reason;
  reason += '\n' + excerpt(line, first.at.column, kReasonWidest);
  reason.pop_back();
  return reason;
}

}  // namespace cudasim
