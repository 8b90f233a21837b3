// The door of every exported function: no exception crosses `extern "C"`, a call waits while the process is locked for
// a checkpoint, and CUDASIM_TRACE=api, the timeline, the driver's log and the check for leaks see it.
#pragma once
#include "common/simulator/state/processes/checkpoint.hpp"
#include "common/simulator/state/reports/argument.hpp"

#include <cuda.h>

namespace cudasim {

// Runs `body(object)`, which returns a CUresult or throws.
CUresult run_call(const Call& call, CUresult (*body)(void* object), void* object) noexcept;

}  // namespace cudasim
