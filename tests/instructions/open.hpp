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

// A NaN, and which bits of it are not zero beside the exponent and the quiet bit.
inline bool nan32(u64 x) { return (x & 0x7fffffff) > 0x7f800000; }
inline bool nan64(u64 x) { return (x & ~u64{0} >> 1) > 0x7ff0000000000000; }

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

inline bool left_open(const Case& c, const u64* in) {
  const auto is = [&c](const char* form) { return c.form == form; };
  // Fields of 64-bit integers may be as long as one likes, but where position and length together leave 32 bits is not
  // known.
  if (is("bfe.u64") || is("bfe.s64")) return in[1] + in[2] > 0xffffffff;
  if (is("bfi.b64")) return in[2] + in[3] > 0xffffffff;
  // The offset that cannot be negated: a search for some bit, but which one is not known.
  if (is("fns.b32")) return u32(in[2]) == 0x80000000;
  // NaNs with a payload, and signalling ones: what is left of the payload in a narrower type is not known.
  if (begins(c.form, "cvt.rna.")) return nan32(in[0]) && (in[0] & 0x7fffff) >> 12 != 0x400;
  if (begins(c.form, "cvt.r") && c.form.find(".f64") == c.form.size() - 4)
    return nan64(in[0]) && (in[0] >> 29 & 0x7fffff) != 0x400000;
  return false;
}

}  // namespace instructions
