// Rejected with: "any other error is thrown"
// Reports every error except CUDA_ERROR_NOT_INITIALIZED as a missing context, even that of a broken driver.
#include "common/cu.hpp"

enum class Ready { yes, not_initialized, no_context };

Ready ready() {
  CUdevice device;
  const CUresult result = cuCtxGetDevice(&device);
  if (result == CUDA_ERROR_NOT_INITIALIZED) return Ready::not_initialized;
  return result == CUDA_SUCCESS ? Ready::yes : Ready::no_context;
}
