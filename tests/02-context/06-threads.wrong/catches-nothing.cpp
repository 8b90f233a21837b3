// Rejected with: "an exception from the work reaches the caller"
// Catches nothing on the worker. An exception that escapes from a thread's function terminates the program.
#include "common/cu.hpp"

#include <exception>
#include <functional>
#include <thread>

void in_worker(const std::function<void()>& work) {
  CUcontext callers;
  CU_THROW(cuCtxGetCurrent(&callers));
  if (callers == nullptr) CU_THROW(CUDA_ERROR_INVALID_CONTEXT);
  std::thread([&] {
    CU_CHECK(cuCtxSetCurrent(callers));
    work();
  }).join();
}
