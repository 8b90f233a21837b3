// Rejected with: "too many bytes are rejected"
// Bytes that do not fit are dropped silently.
#include "common/cu.hpp"

#include <algorithm>

void write_variable(CUmodule module, const char* name, const void* value, std::size_t bytes) {
  CUdeviceptr address;
  std::size_t size;
  CU_THROW(cuModuleGetGlobal(&address, &size, module, name));
  CU_THROW(cuMemcpyHtoD(address, value, std::min(size, bytes)));
}
