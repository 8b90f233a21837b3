// Rejected with: "memory freed in a stream that the work created does not count as leaked"
// It waits for the default stream only. The work had a stream of its own.
#include "common/cu.hpp"

#include <functional>

std::size_t leaked(const std::function<void()>& work) {
  cu::Context context;
  std::size_t before, after, total;
  CU_THROW(cuMemGetInfo(&before, &total));
  work();
  CU_THROW(cuStreamSynchronize(nullptr));
  CU_THROW(cuMemGetInfo(&after, &total));
  return before - after;
}
