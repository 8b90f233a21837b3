// Measure what a function loses.
#include "common/cu.hpp"

#include <functional>

// Runs `work` in a context of its own, on device 0, and returns how many bytes of device memory it has not given back.
// Afterwards nothing is missing any more, and the caller's context is current again, also if `work` throws (what it
// throws goes on to the caller). What was freed in stream order has been given back. Throws cu::Error if the driver
// refuses (CU_THROW).
std::size_t leaked(const std::function<void()>& work) {
  cu::Context context;
  std::size_t before, after, total;
  CU_THROW(cuMemGetInfo(&before, &total));
  work();
  CU_THROW(cuCtxSynchronize());
  CU_THROW(cuMemGetInfo(&after, &total));
  return before - after;
}
