// Rejected with: "unused memory that the pool cannot return is fragmentation"
// What trimming does not return need not be allocated: ask the pool how much of it is used.
#include "03-memory/13-leaks/cause.hpp"
#include "common/cu.hpp"

namespace {

long long free_on_device() {
  CU_THROW(cuCtxSynchronize());  // what was freed in stream order is free only then
  std::size_t free, total;
  CU_THROW(cuMemGetInfo(&free, &total));
  return static_cast<long long>(free);
}

long long free_after_trimming(CUmemoryPool pool) {
  CU_THROW(cuCtxSynchronize());
  CU_THROW(cuMemPoolTrimTo(pool, 0));
  return free_on_device();
}

}  // namespace

Cause cause(CUmemoryPool pool, const std::function<void()>& step) {
  const long long before = free_on_device();
  step();
  const long long after_first = free_after_trimming(pool);
  for (int i = 0; i < kRuns; ++i) step();
  if (free_on_device() >= before) return Cause::nothing;

  const long long after_all = free_after_trimming(pool);
  if (after_all >= before) return Cause::cache;
  return after_all < after_first ? Cause::leak : Cause::kept;
}
