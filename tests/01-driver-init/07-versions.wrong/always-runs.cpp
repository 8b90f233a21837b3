// Rejected with: "an older major version does not start it"
// "The driver's version need not match": within limits, and these are they.
#include "01-driver-init/07-versions/fate.hpp"

Fate fate(int built, int served) { return built <= served ? Fate::runs : Fate::runs_without_ptx; }
