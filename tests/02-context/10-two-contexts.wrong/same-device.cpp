// Rejected with: "two contexts are two, although the device is one"
// It compares devices: enough for the runtime API, where a device has one context.
#include "common/cu.hpp"

#include <vector>

bool belong_together(CUstream stream, const std::vector<CUdeviceptr>& memory) {
  CUcontext streams, popped;
  CUdevice device;
  CU_THROW(cuStreamGetCtx(stream, &streams));
  CU_THROW(cuCtxPushCurrent(streams));
  CU_THROW(cuCtxGetDevice(&device));
  CU_THROW(cuCtxPopCurrent(&popped));
  bool together = true;
  for (CUdeviceptr address : memory) {
    int ordinal = device;
    if (address != 0) CU_THROW(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
    together &= ordinal == device;
  }
  return together;
}
