// Memory management: device memory, linear and pitched, and how much there is of it.
#include "common/simulator/api/call.hpp"
#include "common/simulator/exec/builtins.hpp"
#include "common/simulator/state/memory/allocations.hpp"
#include "common/simulator/state/memory/graph_memory.hpp"
#include "common/simulator/state/memory/pools.hpp"
#include "common/simulator/state/streams/capture.hpp"

namespace cudasim {

namespace {

// Rows of a pitched allocation begin at multiples of CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT.
constexpr u64 kPitch = 512;

}  // namespace

CUresult driver::call_cuMemGetInfo_v2(size_t* free, size_t* total) {
  const auto context = current_context();
  if (free != nullptr) *free = free_memory(context->device);
  if (total != nullptr) *total = context->device.memory;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemAlloc_v2(CUdeviceptr* pointer, size_t bytes) {
  const auto context = current_context();
  require(pointer != nullptr);
  require(bytes != 0, CUDA_ERROR_INVALID_VALUE, [] { return "the size is 0 bytes"; });
  require_no_unsafe_capture();
  *pointer = allocate_device_memory(*context, MemoryKind::device, bytes, "cuMemAlloc")->base;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemAllocPitch_v2(CUdeviceptr* pointer, size_t* pitch, size_t width, size_t height,
                                         unsigned int element) {
  const auto context = current_context();
  require(pointer != nullptr && pitch != nullptr && width != 0 && height != 0);
  require(element == 4 || element == 8 || element == 16);
  const unsigned __int128 row = (static_cast<unsigned __int128>(width) + kPitch - 1) / kPitch * kPitch;
  require_no_unsafe_capture();
  require(row * height < u64{1} << 62, CUDA_ERROR_OUT_OF_MEMORY);
  const u64 bytes = static_cast<u64>(row * height);
  *pointer = allocate_device_memory(*context, MemoryKind::device, bytes, "cuMemAllocPitch")->base;
  *pitch = static_cast<u64>(row);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemFree_v2(CUdeviceptr pointer) {
  require_calls_permitted();
  require_no_unsafe_capture();
  if (pointer == 0) return CUDA_SUCCESS;
  require_sound_context_if_any();
  if (graph_memory_allocated(pointer)) {  // by a launch that may be still to come
    current_context()->synchronize();
    set_graph_memory_allocated(pointer, false);
    require(AddressSpace::instance().release(pointer, "cuMemFree"));
    return CUDA_SUCCESS;
  }
  const auto allocation = AddressSpace::instance().find(pointer);
  require(allocation && allocation->base == pointer, CUDA_ERROR_INVALID_VALUE, [&] {
    return "only the start of an allocation can be freed, and this address is " +
           AddressSpace::instance().describe(pointer, 0);
  });
  if (const auto pool = pool_of(pointer)) {  // whose users the program itself has to wait for
    pool->free_now(pointer);
    return CUDA_SUCCESS;
  }
  switch (allocation->kind) {
    case MemoryKind::device:
    case MemoryKind::managed: {
      // Waits for work that may still use it.
      const auto owner = owner_of(*allocation);
      const bool opened = allocation->kind == MemoryKind::device && allocation->flags != 0;  // cuIpcOpenMemHandle
      require(owner != nullptr && !opened);
      owner->synchronize();
      require_healthy(*owner->health);
      require(end_allocation(pointer, "cuMemFree"));
      return CUDA_SUCCESS;
    }
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult driver::call_cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* size, CUdeviceptr pointer) {
  const auto context = current_context();
  const auto allocation = AddressSpace::instance().find(pointer);
  require(allocation != nullptr && !from_heap(*allocation), CUDA_ERROR_NOT_FOUND);
  // A device knows mappings, and a pool on the host, once it has been given access.
  require(allocation->device_readable, CUDA_ERROR_NOT_FOUND);
  if (base != nullptr) *base = allocation->base;
  if (size != nullptr) *size = allocation->size;
  return CUDA_SUCCESS;
}

}  // namespace cudasim
