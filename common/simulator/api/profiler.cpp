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
