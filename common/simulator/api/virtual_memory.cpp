// Virtual memory management: addresses without memory, memory without addresses, and mappings that bring them together.
//
// The addresses are the host's, too (AddressSpace::reserve_for_both), so that memory on the host can be mapped there
// for both sides.
#include "common/simulator/api/virtual_memory.hpp"

#include "common/simulator/api/call.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/state/allocations.hpp"
#include "common/simulator/state/registry.hpp"
#include "common/simulator/state/shared_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

namespace cudasim {
namespace {

// CU_MEM_LOCATION_TYPE_HOST and _HOST_NUMA, newer than the oldest headers that this compiles with.
constexpr int kHostOnly = 2, kHostNuma = 3;

bool on_host(const CUmemLocation& location) {
  const int type = static_cast<int>(location.type);
  return type == kHostOnly || type == kHostNuma;
}

// `otherwise`: what other kinds of places get. The host's memory counts as one node, whichever is named.
void require_location(const CUmemLocation& location, CUresult otherwise = CUDA_ERROR_INVALID_VALUE) {
  if (on_host(location)) return;
  require(location.type == CU_MEM_LOCATION_TYPE_DEVICE, otherwise);
  device_at(location.id);
}

// Physical memory comes in units of this, CU_MEM_ALLOC_GRANULARITY_MINIMUM and _RECOMMENDED alike.
constexpr u64 kGranularity = u64{2} << 20;

// What cuMemCreate makes. It lasts as long as a handle or a mapping of it does.
struct Physical {
  // The share comes before the bytes: what the device does not have is not asked of the host either.
  Physical(const CUmemAllocationProp& wanted, u64 size) : properties(wanted) {
    take_share(size);
    if (can_be_exported() || on_host()) {
      shared = SharedMemory::make(SharedMemory::Purpose::physical_memory, size, &wanted, sizeof wanted);
    } else {
      own.emplace(size, kGranularity);
    }
  }
  Physical(const CUmemAllocationProp& known, std::shared_ptr<SharedMemory> imported)
      : properties(known), shared(std::move(imported)) {
    take_share(shared->size());
  }

  void take_share(u64 size) {
    if (on_host())
      require_host_memory(size);
    else
      share.emplace(device_at(properties.location.id), size);
  }
  bool on_host() const { return cudasim::on_host(properties.location); }
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
    return on_host(location) ? host_access : access[location.id];
  }
};

// Lets the host touch what is mapped at `address`, or no longer.
void show_host(u64 address, const Mapping& mapping) {
  int protection = PROT_NONE;
  if (mapping.host_access == CU_MEM_ACCESS_FLAGS_PROT_READ) protection = PROT_READ;
  if (mapping.host_access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE) protection = PROT_READ | PROT_WRITE;
  require(mapping.physical->shared->show_at(address, protection), CUDA_ERROR_OUT_OF_MEMORY);
}

// Gives the addresses back their emptiness.
void hide_from_host(u64 address, u64 size) {
  mmap(reinterpret_cast<void*>(address), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
       0);
}

struct VirtualMemory {
  std::mutex mutex;  // for all of it
  std::map<CUmemGenericAllocationHandle, std::shared_ptr<Physical>> physical;
  std::map<u64, u64> reservations;   // address, size
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

  // A program that grows a range wishes for the addresses behind it: it gets them if nobody has them. Without a wish,
  // addresses are not given out twice, and stand apart.
  u64 choose(u64 size, u64 align, u64 wish) {
    const u64 gap = std::max(size / 2, kLeastGap);
    const auto in_order = [&](u64 first) { return first % align == 0 && first >= begin && first + size <= end; };
    if (wish != 0 && in_order(wish) && free_of_reservations(wish, size)) {
      next = std::max(next, wish + size + gap);
      return wish;
    }
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

  bool free_of_reservations(u64 address, u64 size) const {
    auto behind = reservations.lower_bound(address + size);
    if (behind == reservations.begin()) return true;
    --behind;
    return behind->first + behind->second <= address;
  }

  bool reserved(u64 address, u64 size) const {
    auto found = reservations.upper_bound(address);
    if (found == reservations.begin()) return false;
    --found;
    const u64 offset = address - found->first;
    return offset < found->second && size <= found->second - offset;
  }

  bool mapped_within(u64 address, u64 size) const {
    auto next = mappings.lower_bound(address + size);
    if (next == mappings.begin()) return false;
    --next;
    return next->first + next->second.size > address;
  }
};

VirtualMemory& virtual_memory() {
  static VirtualMemory& only = *new VirtualMemory;
  return only;
}

bool in_units(u64 value) { return value % kGranularity == 0; }

void require_supported(const CUmemAllocationProp* properties) {
  require(properties != nullptr && properties->type == CU_MEM_ALLOCATION_TYPE_PINNED);
  require_location(properties->location);
  const auto& flags = properties->allocFlags;
  const auto empty = [](unsigned char byte) { return byte == 0; };
  require(std::all_of(std::begin(flags.reserved), std::end(flags.reserved), empty) && flags.compressionType <= 1);
  constexpr unsigned kFabric = 8;  // CU_MEM_HANDLE_TYPE_FABRIC: a driver without a channel for it does not permit it
  require((properties->requestedHandleTypes & kFabric) == 0, CUDA_ERROR_NOT_PERMITTED);
  require((properties->requestedHandleTypes & ~unsigned{CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR}) == 0);
  // A node's memory can be shared, the host's in general not; there is one node.
  const int type = static_cast<int>(properties->location.type);
  require(type != kHostOnly || properties->requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE);
  require(type != kHostNuma || properties->location.id == 0);
}

// As driver 580 tells it afterwards: what is on the host is on a node of it.
CUmemAllocationProp settled(CUmemAllocationProp properties) {
  if (static_cast<int>(properties.location.type) == kHostOnly) {
    properties.location.type = static_cast<CUmemLocationType>(kHostNuma);
    properties.location.id = 0;
  }
  return properties;
}

bool is_tile_pool(const CUmemAllocationProp& properties) {
  return (properties.allocFlags.usage & CU_MEM_CREATE_USAGE_TILE_POOL) != 0;
}

void update_protection(u64 address, const Mapping& mapping) {
  bool readable = false, writable = false;
  for (const auto& [device, flags] : mapping.access) {
    readable = readable || flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    writable = writable || flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  }
  AddressSpace::instance().protect(address, readable, writable, mapping.host_access != CU_MEM_ACCESS_FLAGS_PROT_NONE);
}

}  // namespace

std::optional<CUmemAllocationProp> properties_at(u64 address) {
  VirtualMemory& all = virtual_memory();
  const std::scoped_lock lock(all.mutex);
  const auto mapping = all.at(address);
  if (mapping == all.mappings.end()) return std::nullopt;
  return mapping->second.physical->properties;
}

std::shared_ptr<SharedMemory> shared_memory_at(u64 address) {
  VirtualMemory& all = virtual_memory();
  const std::scoped_lock lock(all.mutex);
  const auto mapping = all.at(address);
  return mapping == all.mappings.end() ? nullptr : mapping->second.physical->shared;
}

std::optional<std::pair<u64, u64>> reservation_at(u64 address) {
  VirtualMemory& all = virtual_memory();
  const std::scoped_lock lock(all.mutex);
  auto found = all.reservations.upper_bound(address);
  if (found == all.reservations.begin()) return std::nullopt;
  --found;
  if (address - found->first >= found->second) return std::nullopt;
  return *found;
}

TilePool tile_pool(CUmemGenericAllocationHandle handle) {
  VirtualMemory& all = virtual_memory();
  const std::scoped_lock lock(all.mutex);
  const auto physical = all.get(handle);
  require(is_tile_pool(physical->properties));
  return {physical, physical->bytes(), physical->size(), physical->properties.location.id};
}

CUresult driver::call_cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* properties,
                                                    CUmemAllocationGranularity_flags option) {
  require_calls_permitted();
  require(granularity != nullptr && properties != nullptr);
  require(option == CU_MEM_ALLOC_GRANULARITY_MINIMUM || option == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
  *granularity = kGranularity;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemAddressReserve(CUdeviceptr* address, size_t size, size_t alignment, CUdeviceptr wish,
                                          unsigned long long flags) {
  require_calls_permitted();
  require(address != nullptr && size != 0 && in_units(size) && flags == 0 && in_units(wish));
  require((alignment & (alignment - 1)) == 0);
  require(size < u64{1} << 44 && alignment < u64{1} << 44, CUDA_ERROR_OUT_OF_MEMORY);
  VirtualMemory& all = virtual_memory();
  const std::scoped_lock lock(all.mutex);
  *address = all.choose(size, std::max<u64>(alignment, kGranularity), wish);
  all.reservations[*address] = size;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemAddressFree(CUdeviceptr address, size_t size) {
  require_calls_permitted();
  VirtualMemory& all = virtual_memory();
  const std::scoped_lock lock(all.mutex);
  const auto found = all.reservations.find(address);
  require(found != all.reservations.end() && found->second == size && !all.mapped_within(address, size));
  all.reservations.erase(found);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size,
                                  const CUmemAllocationProp* properties, unsigned long long flags) {
  require_calls_permitted();
  require(handle != nullptr && flags == 0 && size != 0 && in_units(size));
  require_supported(properties);
  *handle = virtual_memory().add(std::make_shared<Physical>(settled(*properties), size));
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemRelease(CUmemGenericAllocationHandle handle) {
  require_calls_permitted();
  VirtualMemory& all = virtual_memory();
  const std::scoped_lock lock(all.mutex);
  const auto physical = all.get(handle);
  if (--physical->references == 0) all.physical.erase(handle);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  require_calls_permitted();
  require(handle != nullptr);
  VirtualMemory& all = virtual_memory();
  const std::scoped_lock lock(all.mutex);
  const auto mapping = all.at(reinterpret_cast<u64>(address));
  require(mapping != all.mappings.end());
  const auto& physical = mapping->second.physical;
  ++physical->references;
  all.physical[physical->handle] = physical;  // the last handle may be gone while the mapping lives
  *handle = physical->handle;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                             CUmemGenericAllocationHandle handle) {
  require_calls_permitted();
  require(properties != nullptr);
  VirtualMemory& all = virtual_memory();
  const std::scoped_lock lock(all.mutex);
  *properties = all.get(handle)->properties;
  return CUDA_SUCCESS;
}

// A file descriptor for other processes, or this one. Other kinds of handles are not simulated.
CUresult driver::call_cuMemExportToShareableHandle(void* shareable, CUmemGenericAllocationHandle handle,
                                                   CUmemAllocationHandleType type, unsigned long long flags) {
  require_calls_permitted();
  require(shareable != nullptr && flags == 0 && type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  VirtualMemory& all = virtual_memory();
  const std::scoped_lock lock(all.mutex);
  const auto physical = all.get(handle);
  require(physical->can_be_exported());  // it was not asked for when the memory was made
  *static_cast<int*>(shareable) = physical->shared->descriptor();
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shareable,
                                                     CUmemAllocationHandleType type) {
  require_calls_permitted();
  require(handle != nullptr && shareable != nullptr && type != CU_MEM_HANDLE_TYPE_NONE);
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
    return refuse("cuMemImportFromShareableHandle", "but from a file descriptor");
  }
  const int file = static_cast<int>(reinterpret_cast<std::intptr_t>(shareable));
  auto memory = SharedMemory::open(SharedMemory::Purpose::physical_memory, file);
  CUmemAllocationProp properties{};
  memory->read_notes(&properties, sizeof properties);
  require_location(properties.location);
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;  // of its maker's, not of this
  *handle = virtual_memory().add(std::make_shared<Physical>(properties, std::move(memory)));
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemMap(CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                               unsigned long long flags) {
  require_calls_permitted();
  require(flags == 0 && size != 0 && in_units(address));
  VirtualMemory& all = virtual_memory();
  const std::scoped_lock lock(all.mutex);
  const auto physical = all.get(handle);
  require(!is_tile_pool(physical->properties));
  require(all.reserved(address, size) && !all.mapped_within(address, size));
  require(offset == 0 && size == physical->size(), CUDA_ERROR_NOT_SUPPORTED);  // in parts: driver 580 neither
  auto made = std::make_shared<Allocation>();
  made->base = address;
  made->size = size;
  made->host = physical->bytes();
  made->kind = MemoryKind::virtual_mapping;
  made->device = physical->on_host() ? 0 : static_cast<u32>(physical->properties.location.id);
  if (physical->on_host()) made->flags = Allocation::kOnHost;
  made->device_readable = made->device_writable = false;  // until cuMemSetAccess
  made->label = "cuMemMap";
  made->keep = physical;
  require(AddressSpace::instance().enter(std::move(made)));
  all.mappings[address] = {size, physical, {}, CU_MEM_ACCESS_FLAGS_PROT_NONE};
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemUnmap(CUdeviceptr address, size_t size) {
  require_calls_permitted();
  VirtualMemory& all = virtual_memory();
  const std::scoped_lock lock(all.mutex);
  require(size != 0 && all.reserved(address, size));
  const auto cut = [&](u64 at) {
    const auto mapping = all.at(at);
    return mapping != all.mappings.end() && mapping->first != at;
  };
  require(!cut(address) && !cut(address + size));  // where nothing is mapped there is nothing to do
  const auto end = all.mappings.lower_bound(address + size);
  for (auto mapping = all.mappings.lower_bound(address); mapping != end; mapping = all.mappings.erase(mapping)) {
    AddressSpace::instance().release(mapping->first, "cuMemUnmap");
    if (mapping->second.host_access != CU_MEM_ACCESS_FLAGS_PROT_NONE) {
      hide_from_host(mapping->first, mapping->second.size);
    }
  }
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc* descriptions,
                                     size_t count) {
  require_calls_permitted();
  require(descriptions != nullptr && count != 0);
  for (size_t i = 0; i < count; ++i) {
    const CUmemAccessDesc& wanted = descriptions[i];
    require(wanted.flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || wanted.flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
            wanted.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    if (on_host(wanted.location)) continue;
    require(wanted.location.type == CU_MEM_LOCATION_TYPE_DEVICE);
    device_at(wanted.location.id, CUDA_ERROR_INVALID_VALUE);
  }
  VirtualMemory& all = virtual_memory();
  const std::scoped_lock lock(all.mutex);
  all.require_whole_mappings(address, size);
  const auto end = all.mappings.lower_bound(address + size);
  const bool for_host = std::any_of(descriptions, descriptions + count,
                                    [](const CUmemAccessDesc& wanted) { return on_host(wanted.location); });
  for (auto mapping = all.mappings.find(address); for_host && mapping != end; ++mapping) {
    require(mapping->second.physical->on_host(), CUDA_ERROR_NOT_SUPPORTED);  // a device's memory is the device's
    if (!AddressSpace::instance().reserved_for_both(mapping->first, 1)) {
      return refuse("cuMemSetAccess", "for the host, where the system had no addresses to give for both");
    }
  }
  for (auto mapping = all.mappings.find(address); mapping != end; ++mapping) {
    const CUmemAccess_flags before = mapping->second.host_access;
    for (size_t i = 0; i < count; ++i) {
      mapping->second.access_from(descriptions[i].location) = descriptions[i].flags;
    }
    if (mapping->second.host_access != before) show_host(mapping->first, mapping->second);
    update_protection(mapping->first, mapping->second);
  }
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr address) {
  require_calls_permitted();
  require(flags != nullptr && location != nullptr);
  require_location(*location, CUDA_ERROR_INVALID_DEVICE);
  VirtualMemory& all = virtual_memory();
  const std::scoped_lock lock(all.mutex);
  const auto mapping = all.at(address);
  require(mapping != all.mappings.end());
  *flags = mapping->second.access_from(*location);
  return CUDA_SUCCESS;
}

}  // namespace cudasim
