// Rejected with: "every error except an unknown address is thrown"
// It ignores the result. If the call fails, the type keeps its initial 0, and every address looks pageable.
#include "common/cu.hpp"

enum class Where { pageable, pinned, device, managed };

Where where(const void* pointer) {
  unsigned type = 0, managed = 0;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
  void* values[] = {&type, &managed};
  cuPointerGetAttributes(2, attributes, values, reinterpret_cast<CUdeviceptr>(pointer));
  if (managed) return Where::managed;
  if (type == CU_MEMORYTYPE_DEVICE) return Where::device;
  return type == CU_MEMORYTYPE_HOST ? Where::pinned : Where::pageable;
}
