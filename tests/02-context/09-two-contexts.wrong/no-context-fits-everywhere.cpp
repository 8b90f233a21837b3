// Rejected with: "memory from the pool of another device does not belong to the stream"
// Accepts memory without a context for every stream, even if it is on another device.
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
    together = together && (owner == nullptr || owner == context);
  }
  return together;
}
