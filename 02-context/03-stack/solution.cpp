// Run some work in a context, and leave the caller's stack as you found it.
#include "common/cu.hpp"

#include <functional>

// Calls work() with `context` current. Afterwards the stack is what it was before, also when the caller had no context,
// and also when work() throws. Throws cu::Error if the driver refuses (CU_THROW).
void run_in(CUcontext context, const std::function<void()>& work) {
  struct Pop {
    ~Pop() {
      CUcontext popped;
      CU_REPORT(cuCtxPopCurrent(&popped));
    }
  };
  CU_THROW(cuCtxPushCurrent(context));
  Pop at_the_end;
  work();
}
