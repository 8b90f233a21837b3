// Rejected with: "with a current context the result is yes, and no memory stays allocated"
// Allocates memory to find out whether that works, and does not free it.
#include "common/cu.hpp"

enum class Ready { yes, not_initialized, no_context };

Ready ready() {
  CUdeviceptr memory;
  const CUresult result = cuMemAlloc(&memory, 4);
  if (result == CUDA_ERROR_NOT_INITIALIZED) return Ready::not_initialized;
  return result == CUDA_SUCCESS ? Ready::yes : Ready::no_context;
}
