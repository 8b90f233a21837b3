// Rejected with: "what is thrown is the driver's own answer, whatever it is"
// Whatever the reason, it is called a missing name. Somebody will look for a misspelling that is none.
#include "common/cu.hpp"

void write_variable(CUmodule module, const char* name, const void* value, std::size_t bytes) {
  CUdeviceptr address;
  std::size_t size;
  if (cuModuleGetGlobal(&address, &size, module, name) != CUDA_SUCCESS) CU_THROW(CUDA_ERROR_NOT_FOUND);
  CU_THROW(size == bytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
  CU_THROW(cuMemcpyHtoD(address, value, bytes));
}
