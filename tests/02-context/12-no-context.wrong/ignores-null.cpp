// Rejected with: "without a context, the result is no_context"
// Looks only at the result code. cuCtxGetCurrent also succeeds without a context, and then returns null.
#include "common/cu.hpp"

enum class Ready { yes, not_initialized, no_context };

Ready ready() {
  CUcontext context;
  const CUresult result = cuCtxGetCurrent(&context);
  if (result == CUDA_ERROR_NOT_INITIALIZED) return Ready::not_initialized;
  return result == CUDA_SUCCESS ? Ready::yes : Ready::no_context;
}
