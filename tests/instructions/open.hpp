// What is run, but not judged: where the manual leaves the result open and no simple rule is known for what an H200
// makes of it. All of it is listed here.
#pragma once
#include "tests/instructions/case.hpp"

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

}  // namespace instructions
