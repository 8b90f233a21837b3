// Find and repair the causes of three wrong predictions.
//
// A launcher predicts what will happen to a program on the machine at hand, and offers to update the driver or to
// recompile the program if necessary. Its users report three cases in which the prediction is wrong:
//
//   built with 12.8, driver for 13.0    predicted: does_not_start      when started anyway, the program runs
//   built with 12.6, driver for 12.5    predicted: runs_without_ptx    all of its PTX loads
//   built with 10.2, driver for 10.1    predicted: runs_without_ptx    the program does not start
#include "01-driver-init/06-versions/fate.hpp"

// A program was built with the CUDA Toolkit `built`, and the driver supports CUDA up to `served`. Both versions are
// encoded as 1000 · major + 10 · minor.
Fate fate(int built, int served) {
  const int major = built / 1000, minor = built % 1000 / 10;
  const int driver_major = served / 1000, driver_minor = served % 1000 / 10;
  if (major <= driver_major && minor <= driver_minor) return Fate::runs;
  if (major == driver_major) return Fate::runs_without_ptx;
  return Fate::does_not_start;
}
