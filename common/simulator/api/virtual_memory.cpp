// Virtual memory (CUDA Driver API manual, "Virtual Memory Management").
#include "common/simulator/state/memory/virtual_memory.hpp"
#include "common/simulator/api/call.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/state/errors/registry.hpp"
#include "common/simulator/state/memory/allocations.hpp"
#include "common/simulator/state/memory/virtual_memory.hpp"
#include "common/simulator/state/processes/shared_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <mutex>

namespace cudasim {

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
  require(size < u64{1} << 47 && alignment < u64{1} << 44, CUDA_ERROR_OUT_OF_MEMORY);
  VirtualMemory& all = virtual_memory();
  const std::scoped_lock lock(all.mutex);
  *address = all.choose(size, std::max<u64>(alignment, kGranularity));
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
    return refuse("cuMemImportFromShareableHandle", "except from a file descriptor");
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
  require(flags == 0 && size != 0);
  VirtualMemory& all = virtual_memory();
  const std::scoped_lock lock(all.mutex);
  const auto physical = all.get(handle);
  require(all.reserved(address, 1));
  require(offset == 0 && size == physical->size(), CUDA_ERROR_NOT_SUPPORTED);  // in parts: driver 580 neither
  require(in_units(address) && all.reserved(address, size) && !all.mapped_within(address, size));
  auto made = std::make_shared<Allocation>();
  made->base = address;
  made->size = size;
  made->host = physical->bytes();
  made->kind = MemoryKind::virtual_mapping;
  made->device = physical->is_on_host() ? 0 : static_cast<u32>(physical->properties.location.id);
  if (physical->is_on_host()) made->flags = Allocation::kOnHost;
  made->device_readable = made->device_writable = false;  // until cuMemSetAccess
  made->label = "cuMemMap";
  made->keep = physical;
  require(AddressSpace::instance().enter(std::move(made)));
  all.mappings[address] = {size, physical, {}, CU_MEM_ACCESS_FLAGS_PROT_NONE};
  return CUDA_SUCCESS;
}

// Manual: "This function exhibits synchronous behavior for most use cases."
CUresult driver::call_cuMemUnmap(CUdeviceptr address, size_t size) {
  require_calls_permitted();
  if (const auto context = current_context_if_any()) context->synchronize();
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
    if (is_on_host(wanted.location)) continue;
    require(wanted.location.type == CU_MEM_LOCATION_TYPE_DEVICE);
    device_at(wanted.location.id, CUDA_ERROR_INVALID_VALUE);
  }
  VirtualMemory& all = virtual_memory();
  const std::scoped_lock lock(all.mutex);
  all.require_whole_mappings(address, size);
  const auto end = all.mappings.lower_bound(address + size);
  const bool for_host = std::any_of(descriptions, descriptions + count,
                                    [](const CUmemAccessDesc& wanted) { return is_on_host(wanted.location); });
  for (auto mapping = all.mappings.find(address); for_host && mapping != end; ++mapping) {
    require(mapping->second.physical->is_on_host(), CUDA_ERROR_NOT_SUPPORTED);  // a device's memory is the device's
    if (!AddressSpace::instance().reserved_for_both(mapping->first, 1)) {
      return refuse("cuMemSetAccess", "for the host, because the system has no address range that is free for both");
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
