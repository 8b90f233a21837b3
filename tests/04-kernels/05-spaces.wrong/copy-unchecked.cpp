// Rejected with: "every call is checked"
// The name and the size are checked, but not the copy.
#include "common/cu.hpp"

void write_variable(CUmodule module, const char* name, const void* value, std::size_t bytes) {
  CUdeviceptr address;
  std::size_t size;
  CU_THROW(cuModuleGetGlobal(&address, &size, module, name));
  CU_THROW(size == bytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
  cuMemcpyHtoD(address, value, bytes);
}
