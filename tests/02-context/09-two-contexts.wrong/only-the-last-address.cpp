// Rejected with: "every address counts, not only the last one"
// Overwrites the result with each address, so only the last one counts.
#include "common/cu.hpp"

#include <vector>

bool belong_together(CUstream stream, const std::vector<CUdeviceptr>& memory) {
  CUcontext streams;
  CU_THROW(cuStreamGetCtx(stream, &streams));
  bool together = true;
  for (CUdeviceptr address : memory) {
    if (address == 0) continue;
    CUcontext owner;
    CU_THROW(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address));
    together = owner == streams;
  }
  return together;
}
