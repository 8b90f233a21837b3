// Rejected with: "a pool that keeps what was freed is a cache"
// A pool that could return its unused memory is not fragmented.
#include "03-memory/13-leaks/cause.hpp"
#include "common/cu.hpp"

namespace {

long long free_on_device() {
  CU_THROW(cuCtxSynchronize());  // what was freed in stream order is free only then
  std::size_t free, total;
  CU_THROW(cuMemGetInfo(&free, &total));
  return static_cast<long long>(free);
}

long long unused_in(CUmemoryPool pool) {
  cuuint64_t reserved, used;
  CU_THROW(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
  CU_THROW(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  return static_cast<long long>(reserved) - static_cast<long long>(used);
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

  if (2 * unused_in(pool) >= before - free_on_device()) return Cause::fragmentation;
  const long long after_all = free_after_trimming(pool);
  if (after_all >= before) return Cause::cache;
  return after_all < after_first ? Cause::leak : Cause::kept;
}
