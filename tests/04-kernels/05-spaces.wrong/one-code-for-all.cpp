// Rejected with: "the exception contains the driver's own error code"
// A wrong size and a failed copy are reported with the same code.
#include "common/cu.hpp"

void write_variable(CUmodule module, const char* name, const void* value, std::size_t bytes) {
  CUdeviceptr address;
  std::size_t size;
  CU_THROW(cuModuleGetGlobal(&address, &size, module, name));
  if (size != bytes || cuMemcpyHtoD(address, value, bytes) != CUDA_SUCCESS) CU_THROW(CUDA_ERROR_INVALID_VALUE);
}
