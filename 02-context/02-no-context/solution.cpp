// Tell a caller whether this thread can ask the driver for memory, and if not, what is missing.
#include "common/cu.hpp"

enum class Ready { yes, not_initialised, no_context };

// What stands between this thread and a first cuMemAlloc. Asking changes nothing: it initialises nothing, creates no
// context, allocates nothing, and remembers nothing from one call to the next. Throws cu::Error for any other trouble
// (CU_THROW).
Ready ready() {
  CUcontext context = nullptr;
  const CUresult answer = cuCtxGetCurrent(&context);
  if (answer == CUDA_ERROR_NOT_INITIALIZED) return Ready::not_initialised;
  CU_THROW(answer);
  return context == nullptr ? Ready::no_context : Ready::yes;  // null is an answer, not an error
}
