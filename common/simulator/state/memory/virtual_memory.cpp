#include "common/simulator/state/memory/virtual_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <mutex>

namespace cudasim {

namespace {

// CU_MEM_LOCATION_TYPE_HOST and _HOST_NUMA, newer than the oldest headers that this compiles with.
constexpr int kHostOnly = 2, kHostNuma = 3;

}  // namespace

bool is_on_host(const CUmemLocation& location) {
  const int type = static_cast<int>(location.type);
  return type == kHostOnly || type == kHostNuma;
}

void require_location(const CUmemLocation& location, CUresult otherwise) {
  if (is_on_host(location)) return;
  require(location.type == CU_MEM_LOCATION_TYPE_DEVICE, otherwise);
  device_at(location.id);
}

void show_host(u64 address, const Mapping& mapping) {
  int protection = PROT_NONE;
  if (mapping.host_access == CU_MEM_ACCESS_FLAGS_PROT_READ) protection = PROT_READ;
  if (mapping.host_access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE) protection = PROT_READ | PROT_WRITE;
  require(mapping.physical->shared->show_at(address, protection), CUDA_ERROR_OUT_OF_MEMORY);
}

void hide_from_host(u64 address, u64 size) {
  mmap(reinterpret_cast<void*>(address), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
       0);
}

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
  if ((flags.usage & CU_MEM_CREATE_USAGE_TILE_POOL) != 0) fail(refuse("cuMemCreate", "for the tiles of sparse arrays"));
}

CUmemAllocationProp settled(CUmemAllocationProp properties) {
  if (static_cast<int>(properties.location.type) == kHostOnly) {
    properties.location.type = static_cast<CUmemLocationType>(kHostNuma);
    properties.location.id = 0;
  }
  return properties;
}

void update_protection(u64 address, const Mapping& mapping) {
  bool readable = false, writable = false;
  for (const auto& [device, flags] : mapping.access) {
    readable = readable || flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    writable = writable || flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  }
  AddressSpace::instance().protect(address, readable, writable, mapping.host_access != CU_MEM_ACCESS_FLAGS_PROT_NONE);
}

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

}  // namespace cudasim
