// What other devices of the machine, and the driver by itself, have to do with a device's memory: network cards that
// write to it (GPUDirect RDMA), and news that the driver has to tell. There are no such cards here, and there is no
// news. Descriptors for such cards are in api/ipc.cpp.
#include "common/simulator/api/guard.hpp"
#include "common/simulator/state/allocations.hpp"
#include "common/simulator/state/registry.hpp"

#if CUDA_VERSION >= 12040
namespace cudasim {
namespace {

struct NewsListener {
  CUdevice device;
};

Registry<NewsListener, CUasyncCallbackHandle>& news_listeners() {
  static auto& all = *new Registry<NewsListener, CUasyncCallbackHandle>;
  return all;
}

}  // namespace
}  // namespace cudasim
#endif

using namespace cudasim;

// What has been written from outside is there for all at once.
CUDASIM_API CUresult cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
                                                CUflushGPUDirectRDMAWritesScope scope) {
  return CUDASIM_CALL(target, scope) {
    current_context();
    require(target == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX);
    require(scope == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER ||
            scope == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES);
    return CUDA_SUCCESS;
  };
}

#if CUDA_VERSION >= 12040
// The only news there is, that a device's memory is being given to others, never comes.
CUDASIM_API CUresult cuDeviceRegisterAsyncNotification(CUdevice device, CUasyncCallback callback, void* data,
                                                       CUasyncCallbackHandle* handle) {
  return CUDASIM_CALL(device, callback, data, handle) {
    require_calls_permitted();
    device_at(device);
    require(callback != nullptr && handle != nullptr);
    *handle = news_listeners().add(std::make_shared<NewsListener>(NewsListener{device}));
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuDeviceUnregisterAsyncNotification(CUdevice device, CUasyncCallbackHandle handle) {
  return CUDASIM_CALL(device, handle) {
    require_calls_permitted();
    device_at(device);
    const auto listener = news_listeners().get(handle, CUDA_ERROR_INVALID_VALUE);
    require(listener->device == device);
    news_listeners().remove(handle);
    return CUDA_SUCCESS;
  };
}
#endif

#if CUDA_VERSION >= 12060
// CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK is 0: an H200 has no engine for it either.
CUDASIM_API CUresult cuMemBatchDecompressAsync(CUmemDecompressParams* paramsArray, size_t count, unsigned int flags,
                                               size_t* errorIndex, CUstream stream) {
  return CUDASIM_CALL(paramsArray, count, flags, errorIndex, stream) {
    get_stream(stream);
    return CUDA_ERROR_NOT_SUPPORTED;
  };
}

CUDASIM_API CUresult cuMemBatchDecompressAsync_ptsz(CUmemDecompressParams* paramsArray, size_t count,
                                                    unsigned int flags, size_t* errorIndex, CUstream stream) {
  return CUDASIM_CALL(paramsArray, count, flags, errorIndex, stream) {
    get_stream(per_thread(stream));
    return CUDA_ERROR_NOT_SUPPORTED;
  };
}
#endif

// For a synchronisation that exists on other machines only.
CUDASIM_API CUresult cuDeviceGetNvSciSyncAttributes(void* nvSciSyncAttrList, CUdevice dev, int flags) {
  return CUDASIM_CALL(nvSciSyncAttrList, dev, flags) {
    require_calls_permitted();
    device_at(dev);
    return nvSciSyncAttrList == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_NOT_SUPPORTED;
  };
}
