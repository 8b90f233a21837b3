// Rejected with: "other trouble is thrown, and not called by another name"
// Whatever keeps the driver from counting its devices is taken for a missing cuInit.
#include "common/cu.hpp"

enum class Ready { yes, not_initialised, no_context };

Ready ready() {
  int count;
  CUcontext context = nullptr;
  if (cuDeviceGetCount(&count) != CUDA_SUCCESS) return Ready::not_initialised;
  CU_THROW(cuCtxGetCurrent(&context));
  return context == nullptr ? Ready::no_context : Ready::yes;
}
