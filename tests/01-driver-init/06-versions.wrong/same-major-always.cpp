// Rejected with: "before CUDA 11, an older driver did not start a program of the same major version"
// Applies the rule for one major version to all of them. It exists only since CUDA 11.
#include "01-driver-init/06-versions/fate.hpp"

Fate fate(int built, int served) {
  if (built <= served || (built == 12060 && served == 12050)) return Fate::runs;
  return built / 1000 == served / 1000 ? Fate::runs_without_ptx : Fate::does_not_start;
}
