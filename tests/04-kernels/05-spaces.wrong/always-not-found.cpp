// Rejected with: "the exception contains the driver's own error code"
// Every failure is reported as a missing name, so the caller looks for a misspelling that does not exist.
#include "common/cu.hpp"

void write_variable(CUmodule module, const char* name, const void* value, std::size_t bytes) {
  CUdeviceptr address;
  std::size_t size;
  if (cuModuleGetGlobal(&address, &size, module, name) != CUDA_SUCCESS) CU_THROW(CUDA_ERROR_NOT_FOUND);
  CU_THROW(size == bytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
  CU_THROW(cuMemcpyHtoD(address, value, bytes));
}
