// Multicast objects: memory of several devices behind one address. CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED is 0, as it
// is for an H200 without the switch that does it; so none can be made, and no handle is one.
#include "common/simulator/api/guard.hpp"

#if CUDA_VERSION >= 12010
using namespace cudasim;

namespace {

CUresult no_object() {
  require_calls_permitted();
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUDASIM_API CUresult cuMulticastGetGranularity(size_t* granularity, const CUmulticastObjectProp* prop,
                                               CUmulticastGranularity_flags option) {
  return CUDASIM_CALL(granularity, prop, option) {
    require_calls_permitted();
    require(granularity != nullptr && prop != nullptr);
    return CUDA_ERROR_NOT_SUPPORTED;
  };
}

CUDASIM_API CUresult cuMulticastCreate(CUmemGenericAllocationHandle* mcHandle, const CUmulticastObjectProp* prop) {
  return CUDASIM_CALL(mcHandle, prop) {
    require_calls_permitted();
    require(mcHandle != nullptr && prop != nullptr);
    return CUDA_ERROR_NOT_SUPPORTED;
  };
}

CUDASIM_API CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle mcHandle, CUdevice dev) {
  return CUDASIM_CALL(mcHandle, dev) { return no_object(); };
}

CUDASIM_API CUresult cuMulticastBindMem(CUmemGenericAllocationHandle mcHandle, size_t mcOffset,
                                        CUmemGenericAllocationHandle memHandle, size_t memOffset, size_t size,
                                        unsigned long long flags) {
  return CUDASIM_CALL(mcHandle, mcOffset, memHandle, memOffset, size, flags) { return no_object(); };
}

CUDASIM_API CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle mcHandle, size_t mcOffset, CUdeviceptr memptr,
                                         size_t size, unsigned long long flags) {
  return CUDASIM_CALL(mcHandle, mcOffset, memptr, size, flags) { return no_object(); };
}

CUDASIM_API CUresult cuMulticastUnbind(CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset,
                                       size_t size) {
  return CUDASIM_CALL(mcHandle, dev, mcOffset, size) { return no_object(); };
}
#endif
