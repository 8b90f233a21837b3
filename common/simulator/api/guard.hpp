// The door of every exported function: no exception crosses `extern "C"`, a call waits while the process is locked for
// a checkpoint, and CUDASIM_TRACE=api, the timeline, the driver's log and the check for leaks see it.
#pragma once
#include "common/simulator/state/argument.hpp"
#include "common/simulator/state/checkpoint.hpp"

#include <cuda.h>

#include <cstddef>
#include <string>

namespace cudasim {

struct Call {
  const char* name;       // "cuMemcpyHtoD"
  const char* symbol;     // "cuMemcpyHtoD_v2_ptds"
  bool per_thread;        // a form for per-thread default streams
  const char* arguments;  // their names: "dstDevice, srcHost, ByteCount"
  const Argument* values;
  std::size_t count;
};

// Runs `body(object)`, which returns a CUresult or throws.
CUresult run_call(const Call& call, CUresult (*body)(void* object), void* object) noexcept;

// Writes the call to stderr. `why` explains a failure.
void trace_call(const Call& call, CUresult result, const std::string& why);

}  // namespace cudasim
