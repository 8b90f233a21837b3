// Rejected with: "a newer driver runs every older program"
// Assumes that CUDA 12 programs need a CUDA 12 driver. A driver also runs the programs of all earlier major versions.
#include "01-driver-init/06-versions/fate.hpp"

Fate fate(int built, int served) {
  if (built / 1000 != served / 1000) return Fate::does_not_start;
  return built <= served ? Fate::runs : built >= 11000 ? Fate::runs_without_ptx : Fate::does_not_start;
}
