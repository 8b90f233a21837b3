// Tells a caller whether this thread can allocate device memory, and if not, why not.
#include "common/cu.hpp"

enum class Ready { yes, not_initialized, no_context };

// Returns whether this thread could call cuMemAlloc now, and otherwise what is missing. The function changes nothing:
// it does not initialize the driver, create a context or allocate memory, and it remembers nothing from one call to the
// next. Throws cu::Error for every other error (CU_THROW).
Ready ready() {
  CUcontext context = nullptr;
  const CUresult result = cuCtxGetCurrent(&context);
  if (result == CUDA_ERROR_NOT_INITIALIZED) return Ready::not_initialized;
  CU_THROW(result);
  return context == nullptr ? Ready::no_context : Ready::yes;  // null is a valid result, not an error
}
