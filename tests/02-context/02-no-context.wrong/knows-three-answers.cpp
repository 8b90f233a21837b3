// Rejected with: "other trouble is thrown, and not called by another name"
// Whatever is no success and no missing cuInit is called a missing context, a crashed driver, too.
#include "common/cu.hpp"

enum class Ready { yes, not_initialised, no_context };

Ready ready() {
  CUdevice device;
  const CUresult answer = cuCtxGetDevice(&device);
  if (answer == CUDA_ERROR_NOT_INITIALIZED) return Ready::not_initialised;
  return answer == CUDA_SUCCESS ? Ready::yes : Ready::no_context;
}
