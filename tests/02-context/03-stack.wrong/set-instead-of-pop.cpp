// Rejected with: "what lies below the caller's context is there, too, and nothing else"
// Setting replaces the pushed entry by the caller's context and takes nothing away: the stack grows with every call.
#include "common/cu.hpp"

#include <functional>

void run_in(CUcontext context, const std::function<void()>& work) {
  struct SetBack {
    CUcontext before = nullptr;
    ~SetBack() { CU_REPORT(cuCtxSetCurrent(before)); }
  };
  SetBack at_the_end;
  CU_THROW(cuCtxGetCurrent(&at_the_end.before));
  CU_THROW(cuCtxPushCurrent(context));
  work();
}
