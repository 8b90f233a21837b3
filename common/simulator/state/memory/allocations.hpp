// Ownership of memory: how much each device has allocated, and which allocations end with which context. AddressSpace
// manages the addresses.
#pragma once
#include "common/simulator/memory/address_space.hpp"
#include "common/simulator/state/contexts/context.hpp"

#include <memory>

namespace cudasim {

// A part of a device's memory, released by the destructor.
class Share {
 public:
  // Throws CUDA_ERROR_OUT_OF_MEMORY if the device has not that much left.
  Share(Device& device, u64 bytes);
  ~Share();
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;
  u64 bytes() const { return bytes_; }

 private:
  Device& device_;
  u64 bytes_;
};

// Bytes of the device's memory that no process of the family has allocated.
u64 free_memory(Device& device);

// How much a share of so many bytes takes.
u64 in_units_of_shares(u64 bytes);

// Throws CUDA_ERROR_OUT_OF_MEMORY unless the host, and the control group that this process is in, have as much left:
// asked for more, the system does not refuse but ends a process later.
void require_host_memory(u64 bytes);

// Bytes on the host, page by page from the system: zero, and free of cost until they are touched. Throws
// CUDA_ERROR_OUT_OF_MEMORY if the system has none left.
class HostBytes {
 public:
  explicit HostBytes(u64 size, u64 align = 4096);
  ~HostBytes();
  HostBytes(const HostBytes&) = delete;
  HostBytes& operator=(const HostBytes&) = delete;
  std::byte* get() const { return bytes_; }
  u64 size() const { return size_; }
  void populate();  // has the system find all of it now, as page-locking does; throws CUDA_ERROR_OUT_OF_MEMORY

 private:
  void* block_ = nullptr;
  u64 mapped_ = 0;
  std::byte* bytes_ = nullptr;
  u64 size_ = 0;
};

// For the calls that free memory: they find the owner by the address and need no current context. If there is one, it
// must not have a fault.
void require_sound_context_if_any();

// Device memory that belongs to a context: cuMemAlloc and its kin, a module's variables. Aligned to at least 512 bytes.
std::shared_ptr<Allocation> allocate_device_memory(Context& context, MemoryKind kind, u64 size, const char* label,
                                                   bool zeroed = false, u64 align = 512);
// Host memory whose address is the same for the device. `keep` owns its bytes; null: the program does.
std::shared_ptr<Allocation> enter_host_memory(Context& context, MemoryKind kind, void* host, u64 size, u32 flags,
                                              const char* label, std::shared_ptr<const void> keep);
// Device memory that other processes have, too: `host` are its bytes. `flags`: kept with it.
std::shared_ptr<Allocation> enter_shared_memory(Context& context, std::byte* host, u64 size, u32 flags,
                                                const char* label, std::shared_ptr<const void> keep,
                                                MemoryKind kind = MemoryKind::device);
// Ends an allocation made by one of these; false if no such allocation begins at `base`. Does not wait for anything.
bool end_allocation(u64 base, const char* by);

// The same in two steps, for frees in a stream's order: from the first step on the program cannot free it (again); it
// ends when the object does. Null if no such allocation begins at `base`.
std::shared_ptr<void> claim_allocation(u64 base, const char* by);

// The context that an allocation belongs to; null if it has none or it is gone.
std::shared_ptr<Context> owner_of(const Allocation& allocation);

}  // namespace cudasim
