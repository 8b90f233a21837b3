// Compiled kernels: from a kernel that runs for long to a library in the user's cache. CUDASIM_COMPILE chooses when.
#pragma once
#include "common/simulator/exec/launch.hpp"

namespace cudasim {

// Launch::compile: the compiled code of the launch's kernel, if there is any by now.
const Compiled* find_compiled(const Launch& launch);
// The same, whatever CUDASIM_COMPILE says, and it is waited for; for tests.
const Compiled* compile_now(const Launch& launch);

}  // namespace cudasim
