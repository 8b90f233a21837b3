// Rejected with: "whatever the work throws, its context is destroyed, and its leaks with it"
// An exception that is not a std::exception bypasses the handler, and the context is never destroyed.
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
  } catch (const std::exception&) {
    CU_REPORT(cuCtxDestroy(context));
    throw;
  }
  CU_THROW(cuCtxDestroy(context));
  return before - after;
}
