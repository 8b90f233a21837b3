// Rejected with: "memory that the context itself uses is not counted"
// Free memory is read before the context is created, so the context's own memory counts as leaked.
#include "common/cu.hpp"

#include <functional>

std::size_t leaked(const std::function<void()>& work) {
  std::size_t before, after, total;
  CU_THROW(cuMemGetInfo(&before, &total));
  cu::Context context;
  work();
  CU_THROW(cuCtxSynchronize());
  CU_THROW(cuMemGetInfo(&after, &total));
  return before - after;
}
