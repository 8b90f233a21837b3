// Handles for other processes: of memory, and of events. What a handle leads to is open in the process that made it.
// And descriptors of memory for other devices of the machine.
#include "common/simulator/api/call.hpp"
#include "common/simulator/api/virtual_memory.hpp"
#include "common/simulator/state/allocations.hpp"
#include "common/simulator/state/event.hpp"
#include "common/simulator/state/shared_memory.hpp"

#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>

namespace cudasim {
namespace {

// What the 64 bytes of a handle hold.
struct MemoryHandle {
  u64 magic;
  SharedMemory::Locator where;
  u64 size;
};
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

// Throws for bytes that are no handle, and for a handle of this process: those cannot be opened where they were made.
template <class Handle, class Opaque>
Handle unpack(const Opaque& opaque, u64 magic) {
  Handle handle{};
  std::memcpy(&handle, &opaque, sizeof handle);
  require(handle.magic == magic, magic == kEventMagic ? CUDA_ERROR_MAP_FAILED : CUDA_ERROR_INVALID_VALUE);
  require(handle.where.process != getpid(), CUDA_ERROR_INVALID_CONTEXT);
  return handle;
}

// Allocations that have been given a handle: their bytes are in memory that can be opened from elsewhere.
struct Exports {
  std::mutex mutex;
  std::map<u64, std::weak_ptr<SharedMemory>> by_base;
};

Exports& exports() {
  static Exports& only = *new Exports;
  return only;
}

// What a context has opened. Ends with it, as all its allocations do.
struct Imports {
  struct Import {
    u64 base;
    u32 opened;
  };
  std::mutex mutex;
  std::map<u64, Import> by_serial;
};

std::shared_ptr<SharedMemory> shared_bytes(const Allocation& allocation, Context& owner) {
  Exports& all = exports();
  const std::scoped_lock lock(all.mutex);
  std::weak_ptr<SharedMemory>& known = all.by_base[allocation.base];
  if (auto memory = known.lock()) return memory;
  std::erase_if(all.by_base, [&](const auto& one) { return one.first != allocation.base && one.second.expired(); });
  auto memory = SharedMemory::make(SharedMemory::Purpose::allocation, allocation.size);
  owner.synchronize();  // whatever may be writing while the bytes move
  require(AddressSpace::instance().rehome(allocation.base, memory->get(), memory));
  known = memory;
  return memory;
}

// The memory that the range lies in, as one that has a descriptor.
std::shared_ptr<SharedMemory> describable(const Allocation& allocation) {
  constexpr const char* kCall = "cuMemGetHandleForAddressRange";
  if (allocation.kind == MemoryKind::virtual_mapping) {
    auto memory = shared_memory_at(allocation.base);
    if (!memory) fail(refuse(kCall, "for memory that cuMemCreate was not asked to make shareable"));
    return memory;
  }
  const auto owner = owner_of(allocation);
  require(allocation.kind == MemoryKind::device && owner != nullptr);
  if (allocation.flags != 0) fail(refuse(kCall, "for what another process has made"));
  return shared_bytes(allocation, *owner);
}

CUresult open_memory(CUdeviceptr* pointer, const CUipcMemHandle& opaque, unsigned flags) {
  const auto context = current_context();
  require(pointer != nullptr && flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  const auto handle = unpack<MemoryHandle>(opaque, kMemoryMagic);
  Imports& all = context->parts.get<Imports>();
  const std::scoped_lock lock(all.mutex);
  const auto known = all.by_serial.find(handle.where.serial);
  if (known != all.by_serial.end()) {
    ++known->second.opened;
    *pointer = known->second.base;
    return CUDA_SUCCESS;
  }
  const auto memory = SharedMemory::open(SharedMemory::Purpose::allocation, handle.where);
  *pointer = enter_shared_memory(*context, memory->get(), handle.size, flags, "cuIpcOpenMemHandle", memory)->base;
  all.by_serial[handle.where.serial] = {*pointer, 1};
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

// The last of as many as there were opens takes the memory away, once the work that may use it is done.
CUresult driver::call_cuIpcCloseMemHandle(CUdeviceptr pointer) {
  const auto context = current_context();
  Imports& all = context->parts.get<Imports>();
  const std::scoped_lock lock(all.mutex);
  for (auto import = all.by_serial.begin(); import != all.by_serial.end(); ++import) {
    if (import->second.base != pointer) continue;
    if (--import->second.opened != 0) return CUDA_SUCCESS;
    all.by_serial.erase(import);
    context->synchronize();
    end_allocation(pointer, "cuIpcCloseMemHandle");
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
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
  const auto made = std::make_shared<Event>(*context, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING, marks);
  made->opened = true;
  *event = made->handle = events().add(made);
  return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 11070
// For a network card or another driver: a DMA-BUF. Here it is a descriptor that whoever has it can map; it begins where
// its memory does.
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
  require(flags != kByPcie, CUDA_ERROR_NOT_SUPPORTED);  // as an H200 answers
  if (address != allocation->base) {
    return refuse("cuMemGetHandleForAddressRange", "for a range that begins within an allocation");
  }
  *static_cast<int*>(handle) = describable(*allocation)->descriptor();
  return CUDA_SUCCESS;
}
#endif

}  // namespace cudasim
