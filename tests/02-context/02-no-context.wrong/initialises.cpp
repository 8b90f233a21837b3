// Rejected with: "asking initialises nothing"
// It mends what it was asked to report.
#include "common/cu.hpp"

enum class Ready { yes, not_initialised, no_context };

Ready ready() {
  CUcontext context;
  CUresult answer = cuCtxGetCurrent(&context);
  if (answer == CUDA_ERROR_NOT_INITIALIZED) {
    CU_THROW(cuInit(0));
    return Ready::not_initialised;
  }
  CU_THROW(answer);
  return context == nullptr ? Ready::no_context : Ready::yes;
}
