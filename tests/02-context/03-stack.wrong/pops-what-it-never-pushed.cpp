// Rejected with: "what was not pushed is not popped"
// The guard stands before the push: where that one fails, the caller's own context is popped.
#include "common/cu.hpp"

#include <functional>

void run_in(CUcontext context, const std::function<void()>& work) {
  struct Pop {
    ~Pop() {
      CUcontext popped;
      cuCtxPopCurrent(&popped);
    }
  };
  Pop at_the_end;
  CU_THROW(cuCtxPushCurrent(context));
  work();
}
