// Let another thread do some work in the caller's context.
#include "common/cu.hpp"

#include <exception>
#include <functional>
#include <thread>

// Runs work() on a new thread, with the context that is current for the caller current there, too, and waits for it.
// What the work throws is thrown to the caller; so is cu::Error (CU_THROW) if the caller has no context to lend, and
// then the work is not done. The caller's stack stays as it is.
void in_worker(const std::function<void()>& work) {
  CUcontext callers;
  CU_THROW(cuCtxGetCurrent(&callers));
  if (callers == nullptr) CU_THROW(CUDA_ERROR_INVALID_CONTEXT);
  std::exception_ptr thrown;
  std::thread([&] {
    try {
      CU_THROW(cuCtxSetCurrent(callers));  // the thread ends, and its stack with it: nothing to pop
      work();
    } catch (...) {
      thrown = std::current_exception();  // an exception that leaves a thread's function ends the program
    }
  }).join();
  if (thrown) std::rethrow_exception(thrown);
}
