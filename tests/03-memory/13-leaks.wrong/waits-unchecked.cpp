// Rejected with: "each call is checked: a driver error is thrown, and the context is destroyed"
// If the work has caused an error on the device, waiting reports it, and the result is ignored.
#include "common/cu.hpp"

#include <functional>

std::size_t leaked(const std::function<void()>& work) {
  cu::Context context;
  std::size_t before, after, total;
  CU_THROW(cuMemGetInfo(&before, &total));
  work();
  cuCtxSynchronize();
  CU_THROW(cuMemGetInfo(&after, &total));
  return before - after;
}
