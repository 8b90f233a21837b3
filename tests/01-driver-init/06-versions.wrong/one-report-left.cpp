// Rejected with: "two toolkits that write the same version of PTX make no difference to the driver"
// Repairs two of the three causes. The driver for 12.5 accepts the PTX of 12.6, because both use version 8.5.
#include "01-driver-init/06-versions/fate.hpp"

Fate fate(int built, int served) {
  if (built <= served) return Fate::runs;
  return built >= 11000 && built / 1000 == served / 1000 ? Fate::runs_without_ptx : Fate::does_not_start;
}
