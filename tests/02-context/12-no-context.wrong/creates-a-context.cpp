// Rejected with: "ready() does not create a context"
// Creates a context if there is none, although the caller only asked a question.
#include "common/cu.hpp"

enum class Ready { yes, not_initialized, no_context };

Ready ready() {
  CUcontext context;
  CUresult result = cuCtxGetCurrent(&context);
  if (result == CUDA_ERROR_NOT_INITIALIZED) return Ready::not_initialized;
  CU_THROW(result);
  if (context != nullptr) return Ready::yes;
  CU_THROW(cuCtxCreate(&context, nullptr, 0, 0));
  return Ready::no_context;
}
