// Find and repair the causes of three wrong predictions.
//
// The causes: minor versions were compared even where the major versions differ (0 is less than 8); two toolkits may
// write the same version of PTX; and the rule for one major version began with CUDA 11.
#include "01-driver-init/06-versions/fate.hpp"
#include "common/toolkits.hpp"

#include <string>

// The version of PTX that the newest toolkit up to this version writes.
std::string ptx_of(int version) {
  std::string ptx;
  for (const cu::Toolkit& toolkit : cu::toolkits) {
    if (1000 * toolkit.major + 10 * toolkit.minor <= version) ptx = toolkit.ptx;
  }
  return ptx;
}

// A program was built with the CUDA Toolkit `built`, and the driver supports CUDA up to `served`. Both versions are
// encoded as 1000 · major + 10 · minor.
Fate fate(int built, int served) {
  if (built <= served) return Fate::runs;
  if (built / 1000 != served / 1000 || built < 11000) return Fate::does_not_start;
  return ptx_of(built) == ptx_of(served) ? Fate::runs : Fate::runs_without_ptx;
}
