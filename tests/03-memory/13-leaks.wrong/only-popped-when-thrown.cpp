// Rejected with: "whatever the work throws, its context is destroyed, and its leaks with it"
// After an exception, the context is popped but never destroyed, and it still owns the leaked memory.
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
