// What the first versions of PTX left out of an instruction's name, and what their devices did by themselves. Source:
// PTX ISA, "Floating-Point Instructions", the notes on PTX ISA 1.0 through 1.3, on 1.4 and later, and on sm_1x.
#include "common/simulator/ptx/resolve_old.hpp"

#include "common/simulator/ptx/draft.hpp"

namespace cudasim::ptx {
namespace {

bool among(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool has_any(const Statement& s, std::initializer_list<std::string_view> words) {
  return std::any_of(s.modifiers.begin(), s.modifiers.end(),
                     [&](const std::string& modifier) { return among(modifier, words); });
}

}  // namespace

// The statement with all that is understood; none if nothing is.
std::optional<Statement> modernized(const Body& body, const Statement& s) {
  const Type type = s.modifiers.empty() ? Type::none : type_named(s.modifiers.back());
  if (type != Type::f32 && type != Type::f64) return std::nullopt;
  const bool rounds = has_any(s, {"rn", "rz", "rm", "rp"}), single = type == Type::f32;
  Statement modern = s;
  const auto add = [&](const char* modifier) { modern.modifiers.insert(modern.modifiers.begin(), modifier); };
  if (s.opcode == "mad" && single) {
    if (rounds && body.module.target < 20) fail(s.at, "Illegal rounding modifier for instruction 'mad'");
    if (!rounds) add("rn");
  }
  if (body.module.version() < 14 && !rounds && !has_any(s, {"approx", "full"})) {
    const bool divides = among(s.opcode, {"div", "rcp", "sqrt"});
    const bool approximates = among(s.opcode, {"rsqrt", "sin", "cos", "lg2", "ex2"});
    if (!single && (divides || s.opcode == "mad")) add("rn");
    if (!single && s.opcode == "rsqrt") add("approx");
    if (single && (divides || approximates)) add("ftz"), add("approx");
  }
  // sm_1x flushes subnormal numbers of single precision, except where double precision comes of them in PTX ISA 1.4.
  const bool widens = s.opcode == "cvt" && has_any(s, {"f64"}) && body.module.version() < 15;
  if (body.module.target < 20 && has_any(s, {"f32"}) && !has_any(modern, {"ftz"}) && !widens) {
    Statement flushing = modern;
    flushing.modifiers.insert(flushing.modifiers.begin(), "ftz");
    if (match(flushing.opcode, flushing.modifiers).row != nullptr) modern = std::move(flushing);
  }
  if (modern.modifiers.size() == s.modifiers.size()) return std::nullopt;
  return modern;
}

}  // namespace cudasim::ptx
