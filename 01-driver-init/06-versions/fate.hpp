// What happens to a program on a driver: the possible results of the exercise of 01-06.
#pragma once

enum class Fate {
  runs,              // the driver supports everything in the program
  runs_without_ptx,  // the program starts, but the driver rejects PTX in it
  does_not_start,
};
