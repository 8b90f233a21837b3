// Rejected with: "memory freed in stream order does not count as leaked"
// The pool still holds what was freed in stream order. It releases memory when the host synchronizes.
#include "common/cu.hpp"

#include <functional>

std::size_t leaked(const std::function<void()>& work) {
  cu::Context context;
  std::size_t before, after, total;
  CU_THROW(cuMemGetInfo(&before, &total));
  work();
  CU_THROW(cuMemGetInfo(&after, &total));
  return before - after;
}
