// Enables peer access between two contexts, in both directions.
#include "common/cu.hpp"

namespace {

CUdevice device_of(CUcontext context) {
  const cu::Current in(context);
  CUdevice device;
  CU_THROW(cuCtxGetDevice(&device));
  return device;
}

bool can_access(CUdevice from, CUdevice to) {
  int can;
  CU_THROW(cuDeviceCanAccessPeer(&can, from, to));
  return can != 0;
}

// Afterwards, kernels of `from` can use memory of `to`.
void enable(CUcontext from, CUcontext to) {
  const cu::Current in(from);
  const CUresult result = cuCtxEnablePeerAccess(to, 0);
  if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) CU_THROW(result);
}

}  // namespace

// Lets kernels of each context use memory of the other. Returns true if both directions are enabled afterwards; they
// may have been enabled before. Returns false, and enables nothing, if the two devices cannot access each other in both
// directions. The caller's context stack does not change. Throws cu::Error if a driver call fails for another reason
// (CU_THROW).
bool share(CUcontext a, CUcontext b) {
  const CUdevice device_of_a = device_of(a);
  const CUdevice device_of_b = device_of(b);
  if (!can_access(device_of_a, device_of_b) || !can_access(device_of_b, device_of_a)) return false;
  enable(a, b);
  enable(b, a);
  return true;
}
