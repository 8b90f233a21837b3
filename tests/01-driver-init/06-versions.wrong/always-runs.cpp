// Rejected with: "a driver of an older major version does not start the program"
// Assumes that the version of the driver never prevents a start.
#include "01-driver-init/06-versions/fate.hpp"

Fate fate(int built, int served) { return built <= served ? Fate::runs : Fate::runs_without_ptx; }
