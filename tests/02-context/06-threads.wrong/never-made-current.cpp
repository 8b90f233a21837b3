// Rejected with: "the work runs in the caller's context"
// Forgets to make the context current: a new thread starts with an empty stack.
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
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (thrown) std::rethrow_exception(thrown);
}
