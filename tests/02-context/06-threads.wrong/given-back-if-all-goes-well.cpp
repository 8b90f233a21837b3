// Rejected with: "the caller's stack stays as it is when the work throws, too"
// Lent out and put back, by a line that an exception does not come to.
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
