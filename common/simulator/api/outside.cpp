// Access to device memory by other devices (GPUDirect RDMA), asynchronous notifications, and the decompression engine.
// The simulated machine has no such devices and sends no notifications.
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/errors/registry.hpp"
#include "common/simulator/state/memory/allocations.hpp"

namespace cudasim {

#if CUDA_VERSION >= 12040
namespace {

struct NewsListener {
  CUdevice device;
};

Registry<NewsListener, CUasyncCallbackHandle>& news_listeners() {
  static auto& all = *new Registry<NewsListener, CUasyncCallbackHandle>;
  return all;
}

}  // namespace
#endif

// Writes are visible to every device at once.
CUresult driver::call_cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
                                                 CUflushGPUDirectRDMAWritesScope scope) {
  current_context();
  require(target == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX);
  require(scope == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER || scope == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES);
  return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 12040
// The only kind of notification, about a device's memory budget, is never sent.
CUresult driver::call_cuDeviceRegisterAsyncNotification(CUdevice device, CUasyncCallback callback, void*,
                                                        CUasyncCallbackHandle* handle) {
  require_calls_permitted();
  device_at(device);
  require(callback != nullptr && handle != nullptr);
  *handle = news_listeners().add(std::make_shared<NewsListener>(NewsListener{device}));
  return CUDA_SUCCESS;
}

CUresult driver::call_cuDeviceUnregisterAsyncNotification(CUdevice device, CUasyncCallbackHandle handle) {
  require_calls_permitted();
  device_at(device);
  const auto listener = news_listeners().get(handle, CUDA_ERROR_INVALID_VALUE);
  require(listener->device == device);
  news_listeners().remove(handle);
  return CUDA_SUCCESS;
}
#endif

#if CUDA_VERSION >= 12060
// CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK is 0: an H200 has no engine for it either.
CUresult driver::call_cuMemBatchDecompressAsync(CUmemDecompressParams*, size_t, unsigned int, size_t*,
                                                CUstream stream) {
  get_stream(stream);
  return CUDA_ERROR_NOT_SUPPORTED;
}

#endif

// For a kind of synchronization that only other machines have.
CUresult driver::call_cuDeviceGetNvSciSyncAttributes(void* nvSciSyncAttrList, CUdevice dev, int) {
  require_calls_permitted();
  device_at(dev);
  return nvSciSyncAttrList == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace cudasim
