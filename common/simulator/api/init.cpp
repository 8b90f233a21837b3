// Initialisation and version (CUDA Driver API manual, "Initialization", "Version Management").
#include "common/simulator/api/guard.hpp"

using namespace cudasim;

CUDASIM_API CUresult cuInit(unsigned int flags) {
  return CUDASIM_CALL(flags) {
    require(flags == 0);
    return initialize();
  };
}

CUDASIM_API CUresult cuDriverGetVersion(int* version) {
  return CUDASIM_CALL_WHEN_LOCKED(version) {
    require(version != nullptr);
    *version = kDriverVersion;
    return CUDA_SUCCESS;
  };
}
