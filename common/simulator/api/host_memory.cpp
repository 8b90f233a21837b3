// Memory management: host memory that the device can reach: allocated page-locked, or registered.
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/memory/allocations.hpp"
#include "common/simulator/state/memory/pools.hpp"
#include "common/simulator/state/memory/transfer.hpp"
#include "common/simulator/state/streams/capture.hpp"

#include <cstdio>
#include <memory>

namespace cudasim {
namespace {

constexpr unsigned kAllocFlags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
constexpr unsigned kRegisterFlags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                                    CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;

CUresult allocate_host(void** pointer, std::size_t bytes, unsigned flags, const char* label) {
  const auto context = current_context();
  require(pointer != nullptr && (flags & ~kAllocFlags) == 0);
  require_no_unsafe_capture();
  *pointer = nullptr;
  if (bytes == 0) return CUDA_SUCCESS;
  const auto memory = std::make_shared<HostBytes>(bytes);
  memory->populate();
  enter_host_memory(*context, MemoryKind::host_pinned, memory->get(), bytes, flags, label, memory);
  *pointer = memory->get();
  return CUDA_SUCCESS;
}

bool is_host(const Allocation& allocation) {
  return allocation.kind == MemoryKind::host_pinned || allocation.kind == MemoryKind::host_registered;
}

// Host memory that is mapped to virtual addresses.
bool is_mapped_host(const Allocation& a) {
  return a.kind == MemoryKind::virtual_mapping && (a.flags & Allocation::kOnHost) != 0 && a.device_readable;
}

// The page-locked memory that holds `pointer`; throws CUDA_ERROR_INVALID_VALUE if it is not in page-locked memory.
std::shared_ptr<Allocation> host_allocation(const void* pointer) {
  require(pointer != nullptr);
  auto allocation = AddressSpace::instance().find(reinterpret_cast<u64>(pointer));
  require(allocation && (is_host(*allocation) || is_mapped_host(*allocation)));
  return allocation;
}

// Whether the process may write to all pages of a mapped range, as Linux lists them. Pinning for the device means for
// writing, unless the caller says otherwise.
bool host_range_is_writable(u64 address, u64 bytes) {
  const std::unique_ptr<FILE, int (*)(FILE*)> maps(std::fopen("/proc/self/maps", "r"), std::fclose);
  char line[4096];
  while (maps && std::fgets(line, sizeof line, maps.get())) {
    unsigned long long begin = 0, end = 0;
    char access[5] = "";
    if (std::sscanf(line, "%llx-%llx %4s", &begin, &end, access) != 3) continue;
    if (begin < address + bytes && address < end && access[1] != 'w') return false;
  }
  return true;
}

void end_host(const Allocation& allocation, const char* by) {
  if (const auto owner = owner_of(allocation)) owner->synchronize();
  require(end_allocation(allocation.base, by));
}

}  // namespace

CUresult driver::call_cuMemAllocHost_v2(void** pointer, size_t bytes) {
  return allocate_host(pointer, bytes, 0, "cuMemAllocHost");
}

CUresult driver::call_cuMemHostAlloc(void** pointer, size_t bytes, unsigned int flags) {
  return allocate_host(pointer, bytes, flags, "cuMemHostAlloc");
}

CUresult driver::call_cuMemFreeHost(void* pointer) {
  require_calls_permitted();
  require_no_unsafe_capture();
  if (pointer == nullptr) return CUDA_SUCCESS;
  require_sound_context_if_any();
  const auto allocation = host_allocation(pointer);
  require(allocation->kind == MemoryKind::host_pinned && allocation->host == pointer);
  end_host(*allocation, "cuMemFreeHost");
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemHostGetDevicePointer_v2(CUdeviceptr* device, void* pointer, unsigned int flags) {
  const auto context = current_context();
  require(device != nullptr && flags == 0);
  host_allocation(pointer);
  *device = reinterpret_cast<CUdeviceptr>(pointer);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemHostGetFlags(unsigned int* flags, void* pointer) {
  const auto context = current_context();
  require(flags != nullptr);
  const auto allocation = host_allocation(pointer);
  require(pool_of(allocation->base) == nullptr);
  *flags = is_host(*allocation) ? allocation->flags : 0;
  *flags |= CU_MEMHOSTALLOC_DEVICEMAP;  // with unified addressing, all of it is
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned int flags) {
  const auto context = current_context();
  require(pointer != nullptr && bytes != 0 && (flags & ~kRegisterFlags) == 0);
  require_no_unsafe_capture();
  require((flags & CU_MEMHOSTREGISTER_IOMEMORY) == 0);  // no memory of this process belongs to another device
  const u64 address = reinterpret_cast<u64>(pointer);
  require(address + bytes > address && address + bytes <= kDeviceBase && host_range_is_mapped(address, bytes));
  // Memory of the driver's own is not "already registered" (the error for registering a range twice).
  const auto held = AddressSpace::instance().find(address);
  require(held == nullptr || held->kind != MemoryKind::host_pinned);
  if ((flags & CU_MEMHOSTREGISTER_READ_ONLY) != 0) {
    const auto supported = attribute_value(context->device, CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED);
    require(supported.value_or(0) != 0, CUDA_ERROR_NOT_SUPPORTED);
  } else {
    require(host_range_is_writable(address, bytes));
  }
  enter_host_memory(*context, MemoryKind::host_registered, pointer, bytes, flags, "cuMemHostRegister", nullptr);
  if ((flags & CU_MEMHOSTREGISTER_READ_ONLY) != 0) AddressSpace::instance().protect(address, true, false);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemHostUnregister(void* pointer) {
  const auto context = current_context();
  require(pointer != nullptr);
  require_no_unsafe_capture();
  const auto allocation = AddressSpace::instance().find(reinterpret_cast<u64>(pointer));
  require(allocation != nullptr, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  require(allocation->kind == MemoryKind::host_registered && allocation->host == pointer);
  end_host(*allocation, "cuMemHostUnregister");
  return CUDA_SUCCESS;
}

}  // namespace cudasim
