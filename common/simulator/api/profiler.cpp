// Profiler control (CUDA Driver API manual, "Profiler Control"): marks for an external profiler, which the simulator
// does not have.
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/streams/capture.hpp"

namespace cudasim {

CUresult driver::call_cuProfilerStart() {
  current_context();
  require_no_unsafe_capture();
  return CUDA_SUCCESS;
}

CUresult driver::call_cuProfilerStop() {
  current_context();
  require_no_unsafe_capture();
  return CUDA_SUCCESS;
}

// Obsolete, and refused by drivers.
CUresult driver::call_cuProfilerInitialize(const char*, const char*, int) {
  require_calls_permitted();
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace cudasim
