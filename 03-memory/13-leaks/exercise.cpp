// Find out why memory is missing: a leak, a cache, or fragmentation?
#include "03-memory/13-leaks/cause.hpp"
#include "common/cu.hpp"

// Runs `step` once, and then kRuns more times, in the current context. Returns why less device memory is free
// afterwards than before the first run. The step allocates its memory with cuMemAlloc or from `pool`. If several causes
// apply, a leak counts more than what the pool could return. Throws cu::Error if a driver call fails (CU_THROW).
Cause cause(CUmemoryPool pool, const std::function<void()>& step) {
  // Your code here.
  (void)pool;
  step();
  return Cause::nothing;
}
