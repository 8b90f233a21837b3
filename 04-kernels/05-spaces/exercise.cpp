// Write to a module's variable, and to nothing else.
#include "common/cu.hpp"

// Copies `bytes` bytes at `value` into the module's variable `name`. Throws cu::Error (CU_THROW): with
// CUDA_ERROR_NOT_FOUND if the module has no such variable, with CUDA_ERROR_INVALID_VALUE if the variable is not of
// exactly this size; then nothing is written. If the driver refuses for another reason, with what it answers.
void write_variable(CUmodule module, const char* name, const void* value, std::size_t bytes) {
  // Your code here.
  (void)module, (void)name, (void)value, (void)bytes;
}
