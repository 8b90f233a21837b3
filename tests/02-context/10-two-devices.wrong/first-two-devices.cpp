// Rejected with: "both directions are enabled"
// Assumes that the contexts are on devices 0 and 1, instead of asking them.
#include "common/cu.hpp"

bool share(CUcontext a, CUcontext b) {
  int there, back;
  CU_THROW(cuDeviceCanAccessPeer(&there, 0, 1));
  CU_THROW(cuDeviceCanAccessPeer(&back, 1, 0));
  if (!there || !back) return false;
  for (const auto& way : {std::pair(a, b), std::pair(b, a)}) {
    cu::Current in(way.first);
    const CUresult result = cuCtxEnablePeerAccess(way.second, 0);
    if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) CU_THROW(result);
  }
  return true;
}
