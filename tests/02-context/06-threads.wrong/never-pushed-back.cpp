// Rejected with: "the caller's stack does not change"
// Pops the context from the caller's stack, as if it could be current on only one thread, and never pushes it back.
#include "common/cu.hpp"

#include <exception>
#include <functional>
#include <thread>

void in_worker(const std::function<void()>& work) {
  CUcontext callers;
  CU_THROW(cuCtxPopCurrent(&callers));
  std::exception_ptr thrown;
  std::thread([&] {
    try {
      CU_THROW(cuCtxPushCurrent(callers));
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (thrown) std::rethrow_exception(thrown);
}
