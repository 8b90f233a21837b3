// Stream-ordered memory allocator: pools, and allocations from them, that other processes have, too.
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/memory/pools.hpp"

#include <cstring>

namespace cudasim {
namespace {

// What the bytes of CUmemPoolPtrExportData hold.
struct ExportedPointer {
  u64 magic;
  u64 pool;  // its serial number
  SharedMemory::Locator where;
  u64 size;
};
constexpr u64 kMagic = 0x6c6f6f70206d6964;
static_assert(sizeof(ExportedPointer) <= sizeof(CUmemPoolPtrExportData));

bool by_descriptor(const char* function, CUmemAllocationHandleType type) {
  require(type != CU_MEM_HANDLE_TYPE_NONE);
  if (type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return true;
  return refuse(function, "except as a file descriptor"), false;
}

}  // namespace

CUresult driver::call_cuMemPoolExportToShareableHandle(void* shareable, CUmemoryPool pool,
                                                       CUmemAllocationHandleType type, unsigned long long flags) {
  require_calls_permitted();
  require(shareable != nullptr && pool != nullptr && flags == 0);
  if (!by_descriptor("cuMemPoolExportToShareableHandle", type)) return CUDA_ERROR_NOT_SUPPORTED;
  const auto named = pools().get(pool, CUDA_ERROR_INVALID_VALUE);
  require(named->sharing == Pool::Sharing::exported);
  *static_cast<int*>(shareable) = named->shared->descriptor();
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemPoolImportFromShareableHandle(CUmemoryPool* pool, void* shareable,
                                                         CUmemAllocationHandleType type, unsigned long long flags) {
  require_calls_permitted();
  require(pool != nullptr && flags == 0);
  if (!by_descriptor("cuMemPoolImportFromShareableHandle", type)) return CUDA_ERROR_NOT_SUPPORTED;
  const int file = static_cast<int>(reinterpret_cast<std::intptr_t>(shareable));
  auto shared = SharedMemory::open(SharedMemory::Purpose::pool, file);
  int ordinal = -1;
  shared->read_notes(&ordinal, sizeof ordinal);
  Device& device = device_at(ordinal);
  *pool = make_pool(device, memory_of(device), 0, Pool::Sharing::imported, std::move(shared))->handle;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemPoolExportPointer(CUmemPoolPtrExportData* data, CUdeviceptr pointer) {
  require_calls_permitted();
  require(data != nullptr);
  const auto pool = pool_of(pointer);
  require(pool != nullptr && pool->sharing == Pool::Sharing::exported);
  const auto [where, size] = pool->locate(pointer);
  const ExportedPointer exported{kMagic, pool->shared->serial(), where, size};
  *data = {};
  std::memcpy(data, &exported, sizeof exported);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemPoolImportPointer(CUdeviceptr* pointer, CUmemoryPool pool, CUmemPoolPtrExportData* data) {
  require_calls_permitted();
  require(pointer != nullptr && pool != nullptr && data != nullptr);
  const auto named = pools().get(pool, CUDA_ERROR_INVALID_VALUE);
  ExportedPointer exported{};
  std::memcpy(&exported, data, sizeof exported);
  require(named->sharing == Pool::Sharing::imported && exported.magic == kMagic &&
          exported.pool == named->shared->serial());
  *pointer = named->import(exported.where, exported.size);
  return CUDA_SUCCESS;
}

}  // namespace cudasim
