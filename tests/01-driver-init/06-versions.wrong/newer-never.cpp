// Rejected with: "an older driver of the same major version starts a program, without its PTX"
// This was the rule before CUDA 11. People who still follow it update their drivers needlessly.
#include "01-driver-init/06-versions/fate.hpp"

Fate fate(int built, int served) { return built <= served ? Fate::runs : Fate::does_not_start; }
