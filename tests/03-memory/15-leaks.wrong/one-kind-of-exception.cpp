// Rejected with: "whatever the work throws, its context goes, and what it lost goes with it"
// What is no std::exception passes by, and the context stays.
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
