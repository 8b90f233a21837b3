// What becomes of a program on a driver: the answers of the exercise of 01-07.
#pragma once

enum class Fate {
  runs,              // everything in it is served
  runs_without_ptx,  // it starts, by the rule for one major version; PTX in it does not load
  does_not_start,
};
