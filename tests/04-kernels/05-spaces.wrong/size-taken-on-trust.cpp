// Rejected with: "too few bytes are rejected, and nothing is written"
// The driver rejects a write that is too large. It does not reject one that is too small.
#include "common/cu.hpp"

void write_variable(CUmodule module, const char* name, const void* value, std::size_t bytes) {
  CUdeviceptr address;
  CU_THROW(cuModuleGetGlobal(&address, nullptr, module, name));
  CU_THROW(cuMemcpyHtoD(address, value, bytes));
}
