// Rejected with: "what is lost is counted"
// The context has ended, and taken along what should have been counted.
#include "common/cu.hpp"

#include <functional>

std::size_t leaked(const std::function<void()>& work) {
  std::size_t before, after, total;
  CU_THROW(cuMemGetInfo(&before, &total));
  {
    cu::Context context;
    work();
    CU_THROW(cuCtxSynchronize());
  }
  CU_THROW(cuMemGetInfo(&after, &total));
  return before - after;
}
