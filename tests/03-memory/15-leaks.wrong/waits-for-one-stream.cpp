// Rejected with: "what goes back in a stream of the work's own has gone back, too"
// The default stream is done. The work had one of its own, which does not wait for it.
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
