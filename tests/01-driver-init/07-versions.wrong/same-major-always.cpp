// Rejected with: "before CUDA 11 there was no such rule"
// Minor-version compatibility is a promise of CUDA 11 and later ones.
#include "01-driver-init/07-versions/fate.hpp"

Fate fate(int built, int served) {
  if (built <= served) return Fate::runs;
  return built / 1000 == served / 1000 ? Fate::runs_without_ptx : Fate::does_not_start;
}
