// Rejected with: "the caller's context is current again, even after an exception"
// An exception skips the line that destroys the context.
#include "common/cu.hpp"

#include <functional>

std::size_t leaked(const std::function<void()>& work) {
  CUcontext context;
  CU_THROW(cuCtxCreate(&context, nullptr, 0, 0));
  std::size_t before, after, total;
  CU_THROW(cuMemGetInfo(&before, &total));
  work();
  CU_THROW(cuCtxSynchronize());
  CU_THROW(cuMemGetInfo(&after, &total));
  CU_THROW(cuCtxDestroy(context));
  return before - after;
}
