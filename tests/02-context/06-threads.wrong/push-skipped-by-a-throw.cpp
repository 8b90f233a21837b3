// Rejected with: "the caller's stack does not change when the work throws"
// Pops the context for the worker and pushes it back afterwards, but an exception skips the push.
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
  CU_THROW(cuCtxPushCurrent(callers));
}
