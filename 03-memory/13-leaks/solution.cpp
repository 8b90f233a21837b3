// Measure what a function leaks.
#include "common/cu.hpp"

#include <functional>

// Runs `work` in a new context on device 0, and returns how many bytes of device memory it has not freed. Memory freed
// in stream order counts as freed. Afterwards the new context is destroyed and the caller's context is current again,
// even if `work` throws; its exception reaches the caller. Throws cu::Error if a driver call fails (CU_THROW).
std::size_t leaked(const std::function<void()>& work) {
  cu::Context context;
  std::size_t before, after, total;
  CU_THROW(cuMemGetInfo(&before, &total));
  work();
  CU_THROW(cuCtxSynchronize());
  CU_THROW(cuMemGetInfo(&after, &total));
  return before - after;
}
