// Rejected with: "an address that belongs to no allocation is an error"
// Treats a driver error as a "no". The caller then looks for another context instead of for a bug.
#include "common/cu.hpp"

#include <vector>

bool belong_together(CUstream stream, const std::vector<CUdeviceptr>& memory) {
  CUcontext streams;
  CU_THROW(cuStreamGetCtx(stream, &streams));
  bool together = true;
  for (CUdeviceptr address : memory) {
    CUcontext owner = nullptr;
    if (address == 0) continue;
    together &=
        cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address) == CUDA_SUCCESS && owner == streams;
  }
  return together;
}
