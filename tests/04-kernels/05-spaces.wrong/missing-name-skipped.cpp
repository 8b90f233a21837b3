// Rejected with: "a name that the module does not have is reported"
// A missing name is treated as nothing to write, so renaming the variable breaks the program silently.
#include "common/cu.hpp"

void write_variable(CUmodule module, const char* name, const void* value, std::size_t bytes) {
  CUdeviceptr address;
  std::size_t size;
  if (cuModuleGetGlobal(&address, &size, module, name) != CUDA_SUCCESS) return;
  CU_THROW(size == bytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
  CU_THROW(cuMemcpyHtoD(address, value, bytes));
}
