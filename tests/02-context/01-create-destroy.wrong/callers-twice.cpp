// Rejected with: "the caller's context is still current and still works"
// Setting the caller's context puts it into the place of ours: then it is on the stack twice, and ours is destroyed
// elsewhere.
#include "common/cu.hpp"

std::size_t free_memory(CUdevice device) {
  CUcontext callers, ours;
  CU_THROW(cuCtxGetCurrent(&callers));
  CU_THROW(cuCtxCreate(&ours, nullptr, 0, device));
  std::size_t free = 0, total;
  const CUresult answer = cuMemGetInfo(&free, &total);
  CU_THROW(cuCtxSetCurrent(callers));
  CU_THROW(cuCtxDestroy(ours));
  CU_THROW(answer);
  return free;
}
