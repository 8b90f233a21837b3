// Open the way between two contexts on different devices, in both directions.
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
  const CUresult answer = cuCtxEnablePeerAccess(to, 0);
  if (answer != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) CU_THROW(answer);
}

}  // namespace

// Lets kernels of each of the two contexts use memory of the other. True if both ways are open afterwards, and they may
// have been before; false if the devices cannot reach each other in both directions, and then nothing has been opened.
// The caller's stack is the same afterwards. Throws cu::Error if the driver refuses for another reason (CU_THROW).
bool share(CUcontext a, CUcontext b) {
  const CUdevice device_a = device_of(a), device_b = device_of(b);
  int there, back;
  CU_THROW(cuDeviceCanAccessPeer(&there, device_a, device_b));
  CU_THROW(cuDeviceCanAccessPeer(&back, device_b, device_a));
  if (!there || !back) return false;
  open(a, b);
  open(b, a);
  return true;
}
