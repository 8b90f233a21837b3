// Handles of memory and events for other processes (CUDA Driver API manual, "Memory Management": cuIpc*), and
// descriptors of memory for other devices.
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/memory/allocations.hpp"
#include "common/simulator/state/memory/sharing.hpp"
#include "common/simulator/state/memory/virtual_memory.hpp"
#include "common/simulator/state/processes/shared_memory.hpp"
#include "common/simulator/state/streams/event.hpp"

#include <unistd.h>

#include <cstring>

namespace cudasim {

namespace {

struct EventHandle {
  u64 magic;
  SharedMemory::Locator where;
};
constexpr u64 kMemoryMagic = 0x6d656d206d697364, kEventMagic = 0x746e766520646d69;

static_assert(sizeof(MemoryHandle) <= sizeof(CUipcMemHandle) && sizeof(EventHandle) <= sizeof(CUipcEventHandle));

template <class Handle, class Opaque>
Opaque pack(const Handle& handle) {
  Opaque opaque{};
  std::memcpy(&opaque, &handle, sizeof handle);
  return opaque;
}

// Throws for an invalid handle and for a handle of this process, which cannot be opened where it was made.
template <class Handle, class Opaque>
Handle unpack(const Opaque& opaque, u64 magic) {
  Handle handle{};
  std::memcpy(&handle, &opaque, sizeof handle);
  require(handle.magic == magic, magic == kEventMagic ? CUDA_ERROR_MAP_FAILED : CUDA_ERROR_INVALID_VALUE);
  require(handle.where.process != getpid(), CUDA_ERROR_INVALID_CONTEXT);
  return handle;
}

CUresult open_memory(CUdeviceptr* pointer, const CUipcMemHandle& opaque, unsigned flags) {
  const auto context = current_context();
  require(pointer != nullptr && flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  *pointer = open_shared_memory(*context, unpack<MemoryHandle>(opaque, kMemoryMagic), flags);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult driver::call_cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr pointer) {
  const auto context = current_context();
  require(handle != nullptr);
  const auto allocation = AddressSpace::instance().find(pointer);
  require(allocation && allocation->kind == MemoryKind::device);
  const auto owner = owner_of(*allocation);
  require(owner != nullptr);
  const auto memory = shared_bytes(*allocation, *owner);
  *handle = pack<MemoryHandle, CUipcMemHandle>({kMemoryMagic, memory->locator(), allocation->size});
  return CUDA_SUCCESS;
}

CUresult driver::call_cuIpcOpenMemHandle(CUdeviceptr* pointer, CUipcMemHandle handle, unsigned int flags) {
  return open_memory(pointer, handle, flags);
}

CUresult driver::call_cuIpcOpenMemHandle_v2(CUdeviceptr* pointer, CUipcMemHandle handle, unsigned int flags) {
  return open_memory(pointer, handle, flags);
}

CUresult driver::call_cuIpcCloseMemHandle(CUdeviceptr pointer) {
  const auto context = current_context();
  require(close_shared_memory(*context, pointer));
  return CUDA_SUCCESS;
}

CUresult driver::call_cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event) {
  const auto context = current_context();
  require(handle != nullptr);
  const auto named = events().get(event);
  require(named->marks != nullptr && !named->opened, CUDA_ERROR_INVALID_HANDLE);
  *handle = pack<EventHandle, CUipcEventHandle>({kEventMagic, named->marks->memory().locator()});
  return CUDA_SUCCESS;
}

CUresult driver::call_cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle opaque) {
  const auto context = current_context();
  require(event != nullptr);
  const auto handle = unpack<EventHandle>(opaque, kEventMagic);
  auto marks = std::make_shared<SharedMarks>(SharedMemory::open(SharedMemory::Purpose::marks, handle.where));
  const auto made =
      std::make_shared<Event>(context->health, context->id, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING, marks);
  made->opened = true;
  *event = made->handle = events().add(made);
  return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 11070

// For a network card or another driver: a DMA-BUF. Here it is a descriptor that any process which has it can map; it
// begins where its memory does.
CUresult driver::call_cuMemGetHandleForAddressRange(void* handle, CUdeviceptr address, size_t size,
                                                    CUmemRangeHandleType type, unsigned long long flags) {
  current_context();
  constexpr u64 kPage = 4096;
  constexpr unsigned long long kByPcie = 1;  // CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE
  require(handle != nullptr && type == CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD && flags <= kByPcie);
  require(size != 0 && address % kPage == 0 && size % kPage == 0);
  const auto allocation = AddressSpace::instance().find(address);
  require(allocation && (allocation->kind == MemoryKind::device || allocation->kind == MemoryKind::virtual_mapping));
  require(size <= allocation->base + allocation->size - address);
  require(flags != kByPcie, CUDA_ERROR_NOT_SUPPORTED);  // as on an H200
  if (address != allocation->base) {
    return refuse("cuMemGetHandleForAddressRange", "for a range that begins within an allocation");
  }
  *static_cast<int*>(handle) = describable(*allocation)->descriptor();
  return CUDA_SUCCESS;
}
#endif

}  // namespace cudasim
