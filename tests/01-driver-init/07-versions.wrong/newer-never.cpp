// Rejected with: "an older driver of the same major version starts a program, without its PTX"
// So it was before CUDA 11; people update drivers for nothing because of it.
#include "01-driver-init/07-versions/fate.hpp"

Fate fate(int built, int served) { return built <= served ? Fate::runs : Fate::does_not_start; }
