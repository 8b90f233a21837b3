// Rejected with: "the result describes the calling thread at this moment"
// Remembers that there once was a context, and reports it to every thread for the rest of the program.
#include "common/cu.hpp"

enum class Ready { yes, not_initialized, no_context };

Ready ready() {
  static bool seen = false;
  CUcontext context = nullptr;
  if (cuCtxGetCurrent(&context) == CUDA_ERROR_NOT_INITIALIZED) return Ready::not_initialized;
  seen = seen || context != nullptr;
  return seen ? Ready::yes : Ready::no_context;
}
