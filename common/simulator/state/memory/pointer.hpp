// What the driver reports about a pointer.
#pragma once
#include "common/simulator/state/contexts/context.hpp"
#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/state/memory/allocations.hpp"
#include "common/simulator/state/memory/pools.hpp"
#include "common/simulator/state/memory/virtual_memory.hpp"

#include <mutex>
#include <set>

namespace cudasim {

// The ids of allocations whose CU_POINTER_ATTRIBUTE_SYNC_MEMOPS is not the default: set for managed memory, not set for
// any other (driver 580). Copies are as synchronous as the manual wants already, so the flag is only kept.
struct SyncFlags {
  std::mutex mutex;
  std::set<u64> changed;
};
SyncFlags& sync_flags();
CUresult pointer_attribute(void* data, int attribute, const Allocation& a, u64 pointer);

// What cuPointerGetAttributes stores where an attribute does not apply; throws for numbers that are no attribute.
void store_default_attribute(void* data, int attribute);

}  // namespace cudasim
