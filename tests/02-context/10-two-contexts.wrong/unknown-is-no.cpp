// Rejected with: "an address that nobody owns is an error"
// What the driver refuses to tell is taken for a "no": the caller will look for another context instead of his bug.
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
