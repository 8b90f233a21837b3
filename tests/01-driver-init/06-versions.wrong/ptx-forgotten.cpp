// Rejected with: "an older driver of the same major version starts a program, without its PTX"
// Repairs the prediction for 12.6 on a driver for 12.5 by forgetting about PTX altogether.
#include "01-driver-init/06-versions/fate.hpp"

Fate fate(int built, int served) {
  if (built <= served) return Fate::runs;
  return built >= 11000 && built / 1000 == served / 1000 ? Fate::runs : Fate::does_not_start;
}
