// Rejected with: "what goes back in stream order has gone back"
// The pool still holds what was freed in stream order: it gives back when somebody waits.
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
