// Write to a variable of a module.
#include "common/cu.hpp"

// Copies `bytes` bytes from `value` to the module's variable `name`. Throws cu::Error (CU_THROW) with
// CUDA_ERROR_NOT_FOUND if the module has no such variable, with CUDA_ERROR_INVALID_VALUE if the variable does not have
// exactly this size (in this case, nothing is written), and with the driver's error code if a call fails otherwise.
void write_variable(CUmodule module, const char* name, const void* value, std::size_t bytes) {
  CUdeviceptr address;
  std::size_t size;
  CU_THROW(cuModuleGetGlobal(&address, &size, module, name));
  CU_THROW(size == bytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
  CU_THROW(cuMemcpyHtoD(address, value, bytes));
}
