// Rejected with: "every driver error is thrown to the caller"
// Ignores the result of cuCtxSetCurrent. If it fails, the work runs without a context.
#include "common/cu.hpp"

#include <exception>
#include <functional>
#include <thread>

void in_worker(const std::function<void()>& work) {
  CUcontext callers;
  CU_THROW(cuCtxGetCurrent(&callers));
  if (callers == nullptr) CU_THROW(CUDA_ERROR_INVALID_CONTEXT);
  std::exception_ptr thrown;
  std::thread([&] {
    cuCtxSetCurrent(callers);
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (thrown) std::rethrow_exception(thrown);
}
