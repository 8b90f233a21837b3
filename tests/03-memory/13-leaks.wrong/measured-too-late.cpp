// Rejected with: "leaked bytes are counted"
// Free memory is read after the context was destroyed, which has freed what should be counted.
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
