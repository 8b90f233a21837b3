// Rejected with: "each call is checked: only an address that the driver does not know is no error"
// Nobody looks at the answer: the type is then the 0 that was there before, and everything is pageable.
#include "common/cu.hpp"

enum class Where { pageable, pinned, device, managed };

Where where(const void* pointer) {
  unsigned type = 0, managed = 0;
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
  void* answers[] = {&type, &managed};
  cuPointerGetAttributes(2, asked, answers, reinterpret_cast<CUdeviceptr>(pointer));
  if (managed) return Where::managed;
  if (type == CU_MEMORYTYPE_DEVICE) return Where::device;
  return type == CU_MEMORYTYPE_HOST ? Where::pinned : Where::pageable;
}
