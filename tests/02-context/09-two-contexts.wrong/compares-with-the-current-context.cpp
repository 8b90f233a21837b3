// Rejected with: "the stream's context decides, not the current context"
// Compares the memory with the current context instead of the stream's context.
#include "common/cu.hpp"

#include <vector>

bool belong_together(CUstream, const std::vector<CUdeviceptr>& memory) {
  CUcontext current;
  CU_THROW(cuCtxGetCurrent(&current));
  bool together = true;
  for (CUdeviceptr address : memory) {
    CUcontext owner = current;
    if (address != 0) CU_THROW(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address));
    together &= owner == current;
  }
  return together;
}
