// Compares many numbers, and describes the first wrong one in a sentence, so that a failed check is easy to read:
// CHECK(judged("y", y, n, wanted) == kAllRight).
#pragma once

#include <sstream>
#include <string>

inline const std::string kAllRight = "all right";

// Describes the first of n numbers that differs from wanted(i): "y[512] is 5, not 1029".
template <class Number, class Wanted>
std::string judged(const char* name, const Number* numbers, int n, Wanted wanted) {
  for (int i = 0; i < n; ++i) {
    if (numbers[i] == wanted(i)) continue;
    std::ostringstream message;
    message << name << '[' << i << "] is " << numbers[i] << ", not " << wanted(i);
    return message.str();
  }
  return kAllRight;
}
