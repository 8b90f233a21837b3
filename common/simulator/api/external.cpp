// External memory and semaphores (CUDA Driver API manual, "External Resource Interoperability"). Only descriptors from
// cuMemExportToShareableHandle can be imported, of this process or another. Semaphores cannot be imported, so every
// handle of one is invalid.
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/errors/registry.hpp"
#include "common/simulator/state/memory/allocations.hpp"
#include "common/simulator/state/memory/arrays.hpp"
#include "common/simulator/state/processes/shared_memory.hpp"

#include <unistd.h>

namespace cudasim {
namespace {

struct ExternalMemory {
  std::shared_ptr<SharedMemory> bytes;
  u64 size = 0;  // as the program said
};

Registry<ExternalMemory, CUexternalMemory>& external_memories() {
  static auto& all = *new Registry<ExternalMemory, CUexternalMemory>;
  return all;
}

std::shared_ptr<SharedMemory> open(int descriptor) {
  try {
    return SharedMemory::open(SharedMemory::Purpose::physical_memory, descriptor);
  } catch (const Failure&) {
    fail(CUDA_ERROR_UNKNOWN);  // as driver 580 does
  }
}

}  // namespace

// The descriptor belongs to the driver from then on.
CUresult driver::call_cuImportExternalMemory(CUexternalMemory* out,
                                             const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* description) {
  current_context();
  require(out != nullptr && description != nullptr && description->size != 0);
  require((description->flags & ~unsigned{CUDA_EXTERNAL_MEMORY_DEDICATED}) == 0);
  require(description->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32, CUDA_ERROR_NOT_SUPPORTED);
  require(description->type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD);
  auto bytes = open(description->handle.fd);
  require(description->size <= bytes->size());
  close(description->handle.fd);
  *out = external_memories().add(std::make_shared<ExternalMemory>(ExternalMemory{bytes, description->size}));
  return CUDA_SUCCESS;
}

CUresult driver::call_cuDestroyExternalMemory(CUexternalMemory memory) {
  require_calls_permitted();
  require(memory != nullptr);
  return external_memories().remove(memory) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

// Freed by cuMemFree, also after the object is gone.
CUresult driver::call_cuExternalMemoryGetMappedBuffer(CUdeviceptr* pointer, CUexternalMemory memory,
                                                      const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* description) {
  const auto context = current_context();
  require(pointer != nullptr && description != nullptr && description->flags == 0 && description->size != 0);
  const auto named = external_memories().get(memory);
  require(description->offset <= named->size && description->size <= named->size - description->offset);
  *pointer = enter_shared_memory(*context, named->bytes->get() + description->offset, description->size, 0,
                                 "cuExternalMemoryGetMappedBuffer", named->bytes)
                 ->base;
  return CUDA_SUCCESS;
}

// The levels follow each other; how a device would lay them out is not documented.
CUresult driver::call_cuExternalMemoryGetMappedMipmappedArray(
    CUmipmappedArray* mipmap, CUexternalMemory memory, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC* description) {
  const auto context = current_context();
  require(mipmap != nullptr && memory != nullptr && description != nullptr);
  const auto named = external_memories().get(memory);
  constexpr u64 kWhole = 4096;
  require(description->offset % kWhole == 0 && description->offset <= named->size);
  require(description->numLevels != 0 && description->numLevels <= most_levels(description->arrayDesc));
  u64 at = description->offset;
  *mipmap = make_mipmapped_array(*context, description->arrayDesc, description->numLevels, [&](u64 bytes) {
    require(bytes <= named->size - at);
    const auto level = enter_shared_memory(*context, named->bytes->get() + at, bytes, 0,
                                           "cuExternalMemoryGetMappedMipmappedArray", named->bytes, MemoryKind::array);
    at += bytes;
    return level->base;
  });
  return CUDA_SUCCESS;
}

CUresult driver::call_cuImportExternalSemaphore(CUexternalSemaphore* out,
                                                const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC* description) {
  current_context();
  require(out != nullptr && description != nullptr);
  switch (description->type) {
    case CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD: return CUDA_ERROR_UNKNOWN;  // as driver 580 does
    case CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult driver::call_cuDestroyExternalSemaphore(CUexternalSemaphore semaphore) {
  require_calls_permitted();
  return semaphore == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
}

namespace {

CUresult no_semaphore(const CUexternalSemaphore* semaphores, const void* parameters, unsigned count, CUstream stream) {
  get_stream(stream);
  require(semaphores != nullptr && parameters != nullptr && count != 0);
  return CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace

CUresult driver::call_cuSignalExternalSemaphoresAsync(const CUexternalSemaphore* semaphores,
                                                      const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* parameters,
                                                      unsigned int count, CUstream stream) {
  return no_semaphore(semaphores, parameters, count, stream);
}

CUresult driver::call_cuWaitExternalSemaphoresAsync(const CUexternalSemaphore* semaphores,
                                                    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* parameters,
                                                    unsigned int count, CUstream stream) {
  return no_semaphore(semaphores, parameters, count, stream);
}

}  // namespace cudasim
