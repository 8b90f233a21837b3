// Rejected with: "a leak of cuMemAlloc is found"
// It looks at the memory that is used in the pool, and the step also calls cuMemAlloc.
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
  cuuint64_t used_after_first, used;
  CU_THROW(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used_after_first));
  for (int i = 0; i < kRuns; ++i) step();
  if (free_on_device() >= before) return Cause::nothing;

  const long long after_all = free_after_trimming(pool);
  CU_THROW(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  if (after_all >= before) return Cause::cache;
  if (2 * unused_in(pool) >= before - after_all) return Cause::fragmentation;
  return used > used_after_first ? Cause::leak : Cause::kept;
}
