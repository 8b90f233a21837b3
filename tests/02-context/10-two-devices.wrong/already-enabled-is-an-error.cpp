// Rejected with: "a direction may have been enabled before"
// Reports an error if another library has already enabled the access.
#include "common/cu.hpp"

namespace {

CUdevice device_of(CUcontext context) {
  cu::Current in(context);
  CUdevice device;
  CU_THROW(cuCtxGetDevice(&device));
  return device;
}

void open(CUcontext from, CUcontext to) {
  cu::Current in(from);
  CU_THROW(cuCtxEnablePeerAccess(to, 0));
}

}  // namespace

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
