// Rejected with: "the caller's context stack does not change"
// Leaves the second context current, so the caller continues on another device.
#include "common/cu.hpp"

namespace {

CUdevice device_of(CUcontext context) {
  cu::Current in(context);
  CUdevice device;
  CU_THROW(cuCtxGetDevice(&device));
  return device;
}

void open(CUcontext to) {
  const CUresult result = cuCtxEnablePeerAccess(to, 0);
  if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) CU_THROW(result);
}

}  // namespace

bool share(CUcontext a, CUcontext b) {
  const CUdevice device_a = device_of(a), device_b = device_of(b);
  int there, back;
  CU_THROW(cuDeviceCanAccessPeer(&there, device_a, device_b));
  CU_THROW(cuDeviceCanAccessPeer(&back, device_b, device_a));
  if (!there || !back) return false;
  CU_THROW(cuCtxSetCurrent(a));
  open(b);
  CU_THROW(cuCtxSetCurrent(b));
  open(a);
  return true;
}
