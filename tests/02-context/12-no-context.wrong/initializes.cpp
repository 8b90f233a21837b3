// Rejected with: "ready() does not initialize the driver"
// Initializes the driver instead of reporting that it is not initialized.
#include "common/cu.hpp"

enum class Ready { yes, not_initialized, no_context };

Ready ready() {
  CUcontext context;
  CUresult result = cuCtxGetCurrent(&context);
  if (result == CUDA_ERROR_NOT_INITIALIZED) {
    CU_THROW(cuInit(0));
    return Ready::not_initialized;
  }
  CU_THROW(result);
  return context == nullptr ? Ready::no_context : Ready::yes;
}
