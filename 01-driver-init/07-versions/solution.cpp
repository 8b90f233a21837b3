// Say what becomes of a program on a driver.
#include "01-driver-init/07-versions/fate.hpp"

// A program was built with the CUDA Toolkit `built`; the driver serves CUDA up to `served`. Both are 1000 · major + 10
// · minor.
Fate fate(int built, int served) {
  if (built <= served) return Fate::runs;
  const int family = built / 1000;
  if (family >= 11 && family == served / 1000) return Fate::runs_without_ptx;
  return Fate::does_not_start;
}
