// Rejected with: "managed memory is reported as managed, not as device memory"
// The memory type of managed memory is "device"; whether it is managed is a separate attribute.
#include "common/cu.hpp"

enum class Where { pageable, pinned, device, managed };

Where where(const void* pointer) {
  unsigned type = 0;
  const auto address = reinterpret_cast<CUdeviceptr>(pointer);
  if (cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) != CUDA_SUCCESS) return Where::pageable;
  return type == CU_MEMORYTYPE_DEVICE ? Where::device : Where::pinned;
}
