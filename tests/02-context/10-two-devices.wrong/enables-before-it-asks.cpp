// Rejected with: "if only one direction is possible, none is enabled"
// Enables the first direction before it knows whether the second one is possible.
#include "common/cu.hpp"

namespace {

bool open(CUcontext from, CUcontext to) {
  cu::Current in(from);
  const CUresult result = cuCtxEnablePeerAccess(to, 0);
  if (result == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED) return false;
  if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) CU_THROW(result);
  return true;
}

}  // namespace

bool share(CUcontext a, CUcontext b) { return open(a, b) && open(b, a); }
