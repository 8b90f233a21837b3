// Rejected with: "what its own context takes is not lost"
// Free memory is asked for before the context is made: what the context takes for itself is counted as lost.
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
