// Rejected with: "any other error is thrown"
// Reports every error of cuDeviceGetCount as a missing cuInit.
#include "common/cu.hpp"

enum class Ready { yes, not_initialized, no_context };

Ready ready() {
  int count;
  CUcontext context = nullptr;
  if (cuDeviceGetCount(&count) != CUDA_SUCCESS) return Ready::not_initialized;
  CU_THROW(cuCtxGetCurrent(&context));
  return context == nullptr ? Ready::no_context : Ready::yes;
}
