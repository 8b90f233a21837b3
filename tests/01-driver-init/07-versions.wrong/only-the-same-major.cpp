// Rejected with: "a newer driver serves every older program"
// "CUDA 12 programs need a CUDA 12 driver": drivers are compatible backwards, over all versions.
#include "01-driver-init/07-versions/fate.hpp"

Fate fate(int built, int served) {
  if (built / 1000 != served / 1000) return Fate::does_not_start;
  return built <= served ? Fate::runs : built >= 11000 ? Fate::runs_without_ptx : Fate::does_not_start;
}
