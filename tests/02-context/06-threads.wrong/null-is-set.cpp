// Rejected with: "a caller without a context gets an error, and the work does not run"
// Does not check for a null context. cuCtxSetCurrent(nullptr) succeeds, and the work runs without a context.
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
