// Rejected with: "a newer driver runs every older program"
// Hides the symptoms: hard-codes the three reported cases and leaves the causes as they are.
#include "01-driver-init/06-versions/fate.hpp"

Fate fate(int built, int served) {
  if (built == 12080 && served == 13000) return Fate::runs;
  if (built == 12060 && served == 12050) return Fate::runs;
  if (built == 10020 && served == 10010) return Fate::does_not_start;
  const int major = built / 1000, minor = built % 1000 / 10;
  const int driver_major = served / 1000, driver_minor = served % 1000 / 10;
  if (major <= driver_major && minor <= driver_minor) return Fate::runs;
  if (major == driver_major) return Fate::runs_without_ptx;
  return Fate::does_not_start;
}
