// Rejected with: "afterwards nothing is missing"
// It is measured, and stays lost: only a context of its own takes it along when it ends.
#include "common/cu.hpp"

#include <functional>

std::size_t leaked(const std::function<void()>& work) {
  std::size_t before, after, total;
  CU_THROW(cuMemGetInfo(&before, &total));
  work();
  CU_THROW(cuCtxSynchronize());
  CU_THROW(cuMemGetInfo(&after, &total));
  return before - after;
}
