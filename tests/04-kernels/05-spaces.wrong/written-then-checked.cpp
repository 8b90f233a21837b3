// Rejected with: "too few bytes are refused, and nothing is written"
// The size is compared when half of the variable is overwritten already.
#include "common/cu.hpp"

#include <algorithm>

void write_variable(CUmodule module, const char* name, const void* value, std::size_t bytes) {
  CUdeviceptr address;
  std::size_t size;
  CU_THROW(cuModuleGetGlobal(&address, &size, module, name));
  CU_THROW(cuMemcpyHtoD(address, value, std::min(size, bytes)));
  CU_THROW(size == bytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}
