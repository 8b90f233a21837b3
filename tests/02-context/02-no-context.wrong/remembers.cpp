// Rejected with: "the answer is of now, and of the thread that asks"
// Once there was a context, it thinks that there is one for ever, and for everybody.
#include "common/cu.hpp"

enum class Ready { yes, not_initialised, no_context };

Ready ready() {
  static bool seen = false;
  CUcontext context = nullptr;
  if (cuCtxGetCurrent(&context) == CUDA_ERROR_NOT_INITIALIZED) return Ready::not_initialised;
  seen = seen || context != nullptr;
  return seen ? Ready::yes : Ready::no_context;
}
