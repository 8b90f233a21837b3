// Rejected with: "asking creates no context"
// Where there is no context, it makes one, and nobody asked for it.
#include "common/cu.hpp"

enum class Ready { yes, not_initialised, no_context };

Ready ready() {
  CUcontext context;
  CUresult answer = cuCtxGetCurrent(&context);
  if (answer == CUDA_ERROR_NOT_INITIALIZED) return Ready::not_initialised;
  CU_THROW(answer);
  if (context != nullptr) return Ready::yes;
  CU_THROW(cuCtxCreate(&context, nullptr, 0, 0));
  return Ready::no_context;
}
