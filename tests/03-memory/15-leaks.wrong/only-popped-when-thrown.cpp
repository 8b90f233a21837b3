// Rejected with: "whatever the work throws, its context goes, and what it lost goes with it"
// After a throw the caller's context is current again. The other one is current nowhere, and keeps what was lost.
#include "common/cu.hpp"

#include <functional>

std::size_t leaked(const std::function<void()>& work) {
  CUcontext context;
  CU_THROW(cuCtxCreate(&context, nullptr, 0, 0));
  std::size_t before, after, total;
  try {
    CU_THROW(cuMemGetInfo(&before, &total));
    work();
    CU_THROW(cuCtxSynchronize());
    CU_THROW(cuMemGetInfo(&after, &total));
  } catch (...) {
    CU_REPORT(cuCtxPopCurrent(&context));
    throw;
  }
  CU_THROW(cuCtxDestroy(context));
  return before - after;
}
