// Initialisation and version (CUDA Driver API manual, "Initialization", "Version Management").
#include "common/simulator/api/call.hpp"

namespace cudasim {

CUresult driver::call_cuInit(unsigned int flags) {
  require(flags == 0);
  return initialize();
}

CUresult driver::call_cuDriverGetVersion(int* version) {
  require(version != nullptr);
  *version = kDriverVersion;
  return CUDA_SUCCESS;
}

}  // namespace cudasim
