// Look before a launch whether memory and stream belong together.
#include "common/cu.hpp"

#include <vector>

// True if all of the memory was allocated in the context that `stream` belongs to; the null stream belongs to the one
// that is current. An address may lie inside an allocation; address 0 is nobody's and fits everywhere. Nothing is made
// current. Throws cu::Error if an address is none of the driver's, or the driver refuses (CU_THROW).
bool belong_together(CUstream stream, const std::vector<CUdeviceptr>& memory) {
  CUcontext streams;
  CU_THROW(cuStreamGetCtx(stream, &streams));
  bool together = true;
  for (CUdeviceptr address : memory) {
    if (address == 0) continue;
    CUcontext owner = nullptr;
    CU_THROW(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address));
    together &= owner == streams;
  }
  return together;
}
