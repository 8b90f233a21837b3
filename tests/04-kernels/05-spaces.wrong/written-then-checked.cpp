// Rejected with: "too few bytes are rejected, and nothing is written"
// The size is compared after the variable has been partly overwritten.
#include "common/cu.hpp"

#include <algorithm>

void write_variable(CUmodule module, const char* name, const void* value, std::size_t bytes) {
  CUdeviceptr address;
  std::size_t size;
  CU_THROW(cuModuleGetGlobal(&address, &size, module, name));
  CU_THROW(cuMemcpyHtoD(address, value, std::min(size, bytes)));
  CU_THROW(size == bytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}
