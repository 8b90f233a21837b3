// Multicast objects: memory of several devices behind one address. CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED is 0, as it
// is for an H200 without an NVLink switch, so none can be made and every handle is invalid.
#include "common/simulator/api/call.hpp"

#if CUDA_VERSION >= 12010
namespace cudasim {

namespace {

CUresult no_object() {
  require_calls_permitted();
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult driver::call_cuMulticastGetGranularity(size_t* granularity, const CUmulticastObjectProp* prop,
                                                CUmulticastGranularity_flags) {
  require_calls_permitted();
  require(granularity != nullptr && prop != nullptr);
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult driver::call_cuMulticastCreate(CUmemGenericAllocationHandle* mcHandle, const CUmulticastObjectProp* prop) {
  require_calls_permitted();
  require(mcHandle != nullptr && prop != nullptr);
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult driver::call_cuMulticastAddDevice(CUmemGenericAllocationHandle, CUdevice) { return no_object(); }

CUresult driver::call_cuMulticastBindMem(CUmemGenericAllocationHandle, size_t, CUmemGenericAllocationHandle, size_t,
                                         size_t, unsigned long long) {
  return no_object();
}

CUresult driver::call_cuMulticastBindAddr(CUmemGenericAllocationHandle, size_t, CUdeviceptr, size_t,
                                          unsigned long long) {
  return no_object();
}

CUresult driver::call_cuMulticastUnbind(CUmemGenericAllocationHandle, CUdevice, size_t, size_t) { return no_object(); }

}  // namespace cudasim
#endif
