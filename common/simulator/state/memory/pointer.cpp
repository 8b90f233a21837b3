#include "common/simulator/state/memory/pointer.hpp"

#include <cstring>
#include <mutex>

namespace cudasim {

namespace {

// Newer than the oldest headers that this compiles with.
constexpr int kMappingSize = 18, kMappingBase = 19, kMemoryBlockId = 20, kHwDecompress = 21;

}  // namespace

SyncFlags& sync_flags() {
  static SyncFlags& only = *new SyncFlags;
  return only;
}

namespace {

bool is_mapping(const Allocation& a) { return a.kind == MemoryKind::virtual_mapping; }

bool on_host(const Allocation& a) {
  return a.kind == MemoryKind::host_pinned || a.kind == MemoryKind::host_registered ||
         (is_mapping(a) && (a.flags & Allocation::kOnHost) != 0);
}

bool for_host(const Allocation& a) {
  return a.kind == MemoryKind::managed || (is_mapping(a) ? (a.flags & Allocation::kForHost) != 0 : on_host(a));
}

template <class T>
CUresult store(void* data, T value) {
  std::memcpy(data, &value, sizeof value);
  return CUDA_SUCCESS;
}

// The handle of the context that made it; null for memory without one.
CUcontext context_handle(const Allocation& allocation) {
  const auto owner = owner_of(allocation);
  return owner ? owner->handle : nullptr;
}

// Where the range begins and how many bytes it has: of a mapping, that of the addresses it is in.
std::pair<u64, u64> range_of(const Allocation& a) {
  if (a.kind == MemoryKind::virtual_mapping) {
    if (const auto range = reservation_at(a.base)) return *range;
  }
  return {a.base, a.size};
}

CUmemAllocationProp asked_for(const Allocation& mapping) {
  return properties_at(mapping.base).value_or(CUmemAllocationProp{});
}

}  // namespace

CUresult pointer_attribute(void* data, int attribute, const Allocation& a, u64 pointer) {
  const bool managed = a.kind == MemoryKind::managed;
  const bool has_host_address = for_host(a);
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return store(data, context_handle(a));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return store<unsigned>(data, on_host(a) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: require(a.device_readable); return store<CUdeviceptr>(data, pointer);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!has_host_address) store<void*>(data, nullptr);
      require(has_host_address);
      return store(data, reinterpret_cast<void*>(pointer));
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: {
      SyncFlags& flags = sync_flags();
      const std::scoped_lock lock(flags.mutex);
      return store<unsigned>(data, managed != flags.changed.contains(a.id));
    }
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: return store<unsigned long long>(data, a.id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return store<unsigned>(data, managed);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return store<int>(data, static_cast<int>(a.device));
    // What cuMemAlloc gives could be had by other processes and devices, and be decompressed into.
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return store<unsigned>(data, a.kind == MemoryKind::device && a.flags == 0);  // not what another process made
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      if (is_mapping(a)) return store<unsigned>(data, asked_for(a).allocFlags.gpuDirectRDMACapable != 0);
      [[fallthrough]];
    case kHwDecompress: return store<unsigned>(data, a.kind == MemoryKind::device);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return store<CUdeviceptr>(data, range_of(a).first);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return store<std::size_t>(data, range_of(a).second);
    case CU_POINTER_ATTRIBUTE_MAPPED: return store<unsigned>(data, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return store<unsigned long long>(data, is_mapping(a) ? asked_for(a).requestedHandleTypes : 0);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return store<unsigned>(data, a.device_writable   ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE
                                   : a.device_readable ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ
                                                       : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: {
      const auto pool = pool_of(a.base);
      return store(data, pool ? pool->handle : CUmemoryPool{});
    }
    case kMappingSize: return store<std::size_t>(data, a.size);
    case kMappingBase: return store<CUdeviceptr>(data, a.base);
    case kMemoryBlockId: return store<unsigned long long>(data, a.id);
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:  // for kernel modules of other devices, which are not simulated
      require(!on_host(a));
      return store(data, CUDA_POINTER_ATTRIBUTE_P2P_TOKENS{});
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

void store_default_attribute(void* data, int attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: store<void*>(data, nullptr); return;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case kMappingSize:
    case kMappingBase:
    case kMemoryBlockId: store<u64>(data, 0); return;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: store<int>(data, -2); return;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case kHwDecompress: store<unsigned>(data, 0); return;
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

}  // namespace cudasim
