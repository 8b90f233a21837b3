// What is run, but not judged: where the manual leaves the result open and no simple rule is known for what an H200
// makes of it. All of it is listed here.
#pragma once
#include "tests/instructions/case.hpp"

#include <algorithm>

namespace instructions {

inline bool begins(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

// May the guard be relied on to leave the destination alone? ptxas (580 driver, sm_90) makes several instructions of
// testp and of set with narrow sources and guards only some of them: lanes that do not execute get a conversion of what
// the destination held before. What a program can rely on is setp.
// Likewise the SIMD video instructions that sum up (`.add`).
inline bool guard_holds(const Case& c) {
  const bool sums = c.form[0] == 'v' && c.form.size() > 4 && c.form.rfind(".add") == c.form.size() - 4;
  return !begins(c.form, "testp.") && !begins(c.form, "set.") && !sums;
}

// Scalar video instructions, which ptxas composes of others for sm_90: some combinations are not what the manual says.
// For unsigned operands their rules are known, and tested (video.hpp); not for signed ones, for what is merged into the
// upper half, or saturated and merged, nor for vmad with .sat or .po. Of these, only the simulator's functions are held
// to the expectations.
inline bool strays_from_manual(const Case& c) {
  const auto parts = words(c.form, '.');
  const auto has = [&parts](const char* part) { return std::find(parts.begin(), parts.end(), part) != parts.end(); };
  if (parts[0][0] != 'v' || parts[0].back() == '2' || parts[0].back() == '4') return false;
  const std::string part = operands(c).destinations[0].selector;
  if (part == "h1" || (has("sat") && !part.empty())) return true;
  if (parts[0] == "vmad") return has("s32") || has("sat") || has("po");
  return has("s32") && (has("sat") || has("min") || has("max"));
}

}  // namespace instructions
