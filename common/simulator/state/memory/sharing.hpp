// Memory that other processes open through a handle: the process that made it keeps it open for them.
#pragma once
#include "common/simulator/state/contexts/context.hpp"
#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/state/memory/allocations.hpp"
#include "common/simulator/state/memory/virtual_memory.hpp"
#include "common/simulator/state/processes/shared_memory.hpp"
#include "common/simulator/state/streams/event.hpp"

namespace cudasim {

// What the 64 bytes of a handle hold.
struct MemoryHandle {
  u64 magic;
  SharedMemory::Locator where;
  u64 size;
};
std::shared_ptr<SharedMemory> shared_bytes(const Allocation& allocation, Context& owner);

// The memory that contains the range, as memory with a descriptor.
std::shared_ptr<SharedMemory> describable(const Allocation& allocation);

// The address at which the context has opened the memory. The second open of the same memory finds the first one's.
u64 open_shared_memory(Context& context, const MemoryHandle& handle, unsigned flags);

// As many closes as there were opens free the memory, once the work that may use it is done. False for an address that
// the context has not opened.
bool close_shared_memory(Context& context, u64 address);

}  // namespace cudasim
