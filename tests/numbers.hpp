// What is wrong with many numbers, as a sentence, so that a check that fails reads like one: CHECK(judged("y", y, n,
// wanted) == kAllRight).
#pragma once

#include <sstream>
#include <string>

inline const std::string kAllRight = "all right";

// The first of n numbers that is not what wanted(i) says: "y[512] is 5, not 1029".
template <class Number, class Wanted>
std::string judged(const char* name, const Number* numbers, int n, Wanted wanted) {
  for (int i = 0; i < n; ++i) {
    if (numbers[i] == wanted(i)) continue;
    std::ostringstream said;
    said << name << '[' << i << "] is " << numbers[i] << ", not " << wanted(i);
    return said.str();
  }
  return kAllRight;
}
