// Say where an address lies.
#include "common/cu.hpp"

enum class Where { pageable, pinned, device, managed };

// Where the byte at `pointer` lies. What the driver does not know is pageable memory of the host, as far as anybody can
// tell. The driver is initialised. Throws cu::Error if it refuses to answer (CU_THROW).
Where where(const void* pointer) {
  // The plural form has no error for an address that it does not know: the memory type is 0 then, which none has.
  unsigned type = 0, managed = 0;
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
  void* answers[] = {&type, &managed};
  CU_THROW(cuPointerGetAttributes(2, asked, answers, reinterpret_cast<CUdeviceptr>(pointer)));
  if (managed) return Where::managed;
  if (type == CU_MEMORYTYPE_DEVICE) return Where::device;
  return type == CU_MEMORYTYPE_HOST ? Where::pinned : Where::pageable;
}
