// Rejected with: "too few bytes are refused, and nothing is written"
// The driver would say if it were too much; that it is too little, nobody says.
#include "common/cu.hpp"

void write_variable(CUmodule module, const char* name, const void* value, std::size_t bytes) {
  CUdeviceptr address;
  CU_THROW(cuModuleGetGlobal(&address, nullptr, module, name));
  CU_THROW(cuMemcpyHtoD(address, value, bytes));
}
