// Runs a function on another thread, in the caller's context.
#include "common/cu.hpp"

#include <functional>
#include <future>

// Runs work() on a new thread and waits for it. The caller's current context is current there, too. If work() throws,
// the same exception is thrown to the caller. If the caller has no current context, throws cu::Error (CU_THROW) and
// does not run work(). The caller's context stack does not change.
void in_worker(const std::function<void()>& work) {
  CUcontext callers;
  CU_THROW(cuCtxGetCurrent(&callers));
  if (callers == nullptr) CU_THROW(CUDA_ERROR_INVALID_CONTEXT);
  const auto in_context = [&] {
    CU_THROW(cuCtxSetCurrent(callers));  // the new thread's stack disappears with the thread, so no pop is needed
    work();
  };
  std::async(std::launch::async, in_context).get();  // get() rethrows what the new thread has thrown
}
