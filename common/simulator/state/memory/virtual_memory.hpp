// Virtual memory management: addresses without memory, memory without addresses, and mappings that bring them together.
//
// The addresses are the host's, too (AddressSpace::reserve_for_both), so that memory on the host can be mapped there
// for both sides.
#pragma once
#include "common/simulator/numbers.hpp"
#include "common/simulator/state/contexts/context.hpp"
#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/state/errors/registry.hpp"
#include "common/simulator/state/memory/allocations.hpp"
#include "common/simulator/state/processes/shared_memory.hpp"
#include "common/simulator/wanted.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

namespace cudasim {

bool is_on_host(const CUmemLocation& location);

// `otherwise`: what other kinds of places get. The host's memory counts as one node, whichever is named.
void require_location(const CUmemLocation& location, CUresult otherwise = CUDA_ERROR_INVALID_VALUE);

// Physical memory comes in units of this, CU_MEM_ALLOC_GRANULARITY_MINIMUM and _RECOMMENDED alike.
constexpr u64 kGranularity = u64{2} << 20;

// What cuMemCreate makes. It lasts as long as a handle or a mapping of it does.
struct Physical {
  // The share comes before the bytes: what the device does not have is not asked of the host either.
  Physical(const CUmemAllocationProp& wanted, u64 size) : properties(wanted) {
    take_share(size);
    if (can_be_exported() || is_on_host()) {
      shared = SharedMemory::make(SharedMemory::Purpose::physical_memory, size, &wanted, sizeof wanted);
      count_shared();
    } else {
      own.emplace(size, kGranularity);
    }
  }
  Physical(const CUmemAllocationProp& known, std::shared_ptr<SharedMemory> imported)
      : properties(known), shared(std::move(imported)) {
    take_share(shared->size());
    count_shared();
  }

  void count_shared() {
    if (share) shared->count_on(device_at(properties.location.id).index, share->bytes(), true);
  }

  void take_share(u64 size) {
    if (is_on_host())
      require_host_memory(size);
    else
      share.emplace(device_at(properties.location.id), size);
  }
  bool is_on_host() const { return cudasim::is_on_host(properties.location); }
  bool can_be_exported() const {
    return (properties.requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0;
  }

  std::byte* bytes() const { return shared ? shared->get() : own->get(); }
  u64 size() const { return shared ? shared->size() : own->size(); }

  CUmemAllocationProp properties;
  std::optional<Share> share;  // of its device
  std::optional<HostBytes> own;
  std::shared_ptr<SharedMemory> shared;
  CUmemGenericAllocationHandle handle = 0;
  u32 references = 1;  // of the handle
};

struct Mapping {
  u64 size = 0;
  std::shared_ptr<Physical> physical;
  std::map<CUdevice, CUmemAccess_flags> access;
  CUmemAccess_flags host_access = CU_MEM_ACCESS_FLAGS_PROT_NONE;

  CUmemAccess_flags& access_from(const CUmemLocation& location) {
    return is_on_host(location) ? host_access : access[location.id];
  }
};

// Lets the host touch what is mapped at `address`, or no longer.
void show_host(u64 address, const Mapping& mapping);

// Gives the addresses back their emptiness.
void hide_from_host(u64 address, u64 size);

struct VirtualMemory {
  std::mutex mutex;  // for all of it
  std::map<CUmemGenericAllocationHandle, std::shared_ptr<Physical>> physical;
  std::map<u64, u64> reservations;  // address, size
  u64 begin = 0, end = 0, next = 0;  // the addresses that reservations come from
  static constexpr u64 kSmallArena = u64{1} << 36, kLeastGap = u64{64} << 20;
#ifdef __SANITIZE_THREAD__  // which ends a program that asks for too much
  static constexpr u64 kArena = kSmallArena;
#else
  static constexpr u64 kArena = u64{1} << 42;
#endif
  std::map<u64, Mapping> mappings;  // by address

  CUmemGenericAllocationHandle add(std::shared_ptr<Physical> made) {
    made->handle = fresh_handle();
    const std::scoped_lock lock(mutex);
    physical[made->handle] = made;
    return made->handle;
  }

  std::shared_ptr<Physical> get(CUmemGenericAllocationHandle handle) const {
    const auto found = physical.find(handle);
    require(found != physical.end());
    return found->second;
  }

  // The mapping that holds `address`; end() if none does.
  std::map<u64, Mapping>::iterator at(u64 address) {
    auto found = mappings.upper_bound(address);
    if (found == mappings.begin()) return mappings.end();
    --found;
    return address - found->first < found->second.size ? found : mappings.end();
  }

  // Throws CUDA_ERROR_INVALID_VALUE unless [address, address + size) is exactly one or more whole mappings.
  void require_whole_mappings(u64 address, u64 size) const {
    require(size != 0 && address + size > address);
    u64 at = address;
    while (at < address + size) {
      const auto found = mappings.find(at);
      require(found != mappings.end());
      at += found->second.size;
    }
    require(at == address + size);
  }

  // Addresses are not reused, and reservations are far apart, so that an index too far is found; on a GPU they follow
  // each other. What address a program would like does not matter, as on an H200 (driver 580).
  u64 choose(u64 size, u64 align) {
    const u64 gap = hardware_bounds() ? 0 : std::max(size / 2, kLeastGap);
    const auto in_order = [&](u64 first) { return first % align == 0 && first >= begin && first + size <= end; };
    u64 base = round_up(next, align);
    if (!in_order(base)) {  // the first time, or there is no room left
      u64 arena = std::max(kArena, size + align);
      begin = AddressSpace::instance().reserve_for_both(arena, align);
      if (begin == 0) {  // under a tool or a limit that leaves little room
        arena = std::max(kSmallArena, size + align);
        begin = AddressSpace::instance().reserve_for_both(arena, align);
      }
      if (begin == 0) begin = AddressSpace::instance().reserve(arena, align);  // the device's only, then
      end = begin + arena;
      base = begin;
    }
    next = base + size + gap;
    return base;
  }

  // By one reservation, or several that follow each other.
  bool reserved(u64 address, u64 size) const {
    auto found = reservations.upper_bound(address);
    if (found == reservations.begin()) return false;
    --found;
    if (address - found->first >= found->second || address + size < address) return false;
    u64 end = found->first + found->second;
    for (++found; end < address + size; ++found) {
      if (found == reservations.end() || found->first != end) return false;
      end += found->second;
    }
    return true;
  }

  bool mapped_within(u64 address, u64 size) const {
    auto next = mappings.lower_bound(address + size);
    if (next == mappings.begin()) return false;
    --next;
    return next->first + next->second.size > address;
  }
};
VirtualMemory& virtual_memory();
bool in_units(u64 value);
void require_supported(const CUmemAllocationProp* properties);

// As driver 580 tells it afterwards: what is on the host is on a node of it.
CUmemAllocationProp settled(CUmemAllocationProp properties);
void update_protection(u64 address, const Mapping& mapping);

// The address and size of the reservation (cuMemAddressReserve) that holds `address`.
std::optional<std::pair<u64, u64>> reservation_at(u64 address);
// What the memory that is mapped at `address` was asked to be (cuMemCreate).
std::optional<CUmemAllocationProp> properties_at(u64 address);

// What is mapped at `address`, if it is memory that can be shared; else null.
std::shared_ptr<class SharedMemory> shared_memory_at(u64 address);

}  // namespace cudasim
