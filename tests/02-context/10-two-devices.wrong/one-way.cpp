// Rejected with: "both directions are enabled"
// Enables only one direction: kernels of `a` can use memory of `b`, but not the reverse.
#include "common/cu.hpp"

namespace {

CUdevice device_of(CUcontext context) {
  cu::Current in(context);
  CUdevice device;
  CU_THROW(cuCtxGetDevice(&device));
  return device;
}

}  // namespace

bool share(CUcontext a, CUcontext b) {
  const CUdevice device_a = device_of(a), device_b = device_of(b);
  int there, back;
  CU_THROW(cuDeviceCanAccessPeer(&there, device_a, device_b));
  CU_THROW(cuDeviceCanAccessPeer(&back, device_b, device_a));
  if (!there || !back) return false;
  cu::Current in(a);
  const CUresult result = cuCtxEnablePeerAccess(b, 0);
  if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) CU_THROW(result);
  return true;
}
