// Compiled kernels: from a kernel that runs for long to a library in the user's cache. CUDASIM_COMPILE chooses when.
#pragma once
#include "common/simulator/exec/launch.hpp"

namespace cudasim {

// Launch::compile finds the compiled code of the launch's kernel, if there is any by now.
using FindCompiled = FoundCompiled (*)(const Launch& launch);
// What CUDASIM_COMPILE asks for; null: nothing. For a thread of the program, whose environment it remembers.
FindCompiled wanted_compiled();
// Compiles the kernel and waits for it, whatever CUDASIM_COMPILE says; for tests.
FoundCompiled compile_now(const Launch& launch);

}  // namespace cudasim
