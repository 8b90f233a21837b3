// Rejected with: "memory from a pool can be used by both contexts of its device"
// Compares only the contexts. Memory from a pool has none, so this function rejects it for every stream.
#include "common/cu.hpp"

#include <vector>

bool belong_together(CUstream stream, const std::vector<CUdeviceptr>& memory) {
  CUcontext context;
  CU_THROW(cuStreamGetCtx(stream, &context));
  bool together = true;
  for (const CUdeviceptr address : memory) {
    if (address == 0) continue;
    CUcontext owner = nullptr;
    CU_THROW(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address));
    together = together && owner == context;
  }
  return together;
}
