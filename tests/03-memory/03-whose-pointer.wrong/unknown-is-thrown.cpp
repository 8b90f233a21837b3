// Rejected with: "a vector and a local variable are pageable"
// cuPointerGetAttribute fails for an unknown address, but here this means pageable memory and not an error.
#include "common/cu.hpp"

enum class Where { pageable, pinned, device, managed };

Where where(const void* pointer) {
  unsigned type = 0, managed = 0;
  const auto address = reinterpret_cast<CUdeviceptr>(pointer);
  CU_THROW(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
  CU_THROW(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
  if (managed) return Where::managed;
  return type == CU_MEMORYTYPE_DEVICE ? Where::device : Where::pinned;
}
