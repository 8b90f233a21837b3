// Rejected with: "every driver error is thrown, and the stack does not change"
// Treats an error of cuDeviceCanAccessPeer as a "no".
#include "common/cu.hpp"

namespace {

CUdevice device_of(CUcontext context) {
  cu::Current in(context);
  CUdevice device;
  CU_THROW(cuCtxGetDevice(&device));
  return device;
}

// Kernels of `from` may use memory of `to` afterwards.
void open(CUcontext from, CUcontext to) {
  cu::Current in(from);
  const CUresult result = cuCtxEnablePeerAccess(to, 0);
  if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) CU_THROW(result);
}

}  // namespace

bool share(CUcontext a, CUcontext b) {
  const CUdevice device_a = device_of(a), device_b = device_of(b);
  int there = 0, back = 0;
  cuDeviceCanAccessPeer(&there, device_a, device_b);
  cuDeviceCanAccessPeer(&back, device_b, device_a);
  if (!there || !back) return false;
  open(a, b);
  open(b, a);
  return true;
}
