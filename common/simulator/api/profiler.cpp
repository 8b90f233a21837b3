// Profiler control (CUDA Driver API manual, "Profiler Control"): marks for a profiler outside, of which there is none.
#include "common/simulator/api/guard.hpp"

using namespace cudasim;

CUDASIM_API CUresult cuProfilerStart() {
  return CUDASIM_CALL() {
    current_context();
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuProfilerStop() {
  return CUDASIM_CALL() {
    current_context();
    return CUDA_SUCCESS;
  };
}

// Obsolete, and refused by drivers.
CUDASIM_API CUresult cuProfilerInitialize(const char* configFile, const char* outputFile, int outputMode) {
  return CUDASIM_CALL(configFile, outputFile, outputMode) {
    require_calls_permitted();
    return CUDA_ERROR_NOT_SUPPORTED;
  };
}
