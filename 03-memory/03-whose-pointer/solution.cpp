// Find out which kind of memory an address is in.
#include "common/cu.hpp"

enum class Where { pageable, pinned, device, managed };

// Returns the kind of memory that contains `pointer`. An address that the driver does not know counts as pageable. The
// driver is initialized, but no context need be current. Throws cu::Error if a driver call fails for any other reason
// (CU_THROW).
Where where(const void* pointer) {
  // For an unknown address, the plural form succeeds and sets the memory type to 0, which is not a valid type.
  unsigned type = 0, managed = 0;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
  void* values[] = {&type, &managed};
  CU_THROW(cuPointerGetAttributes(2, attributes, values, reinterpret_cast<CUdeviceptr>(pointer)));
  if (managed) return Where::managed;
  if (type == CU_MEMORYTYPE_DEVICE) return Where::device;
  return type == CU_MEMORYTYPE_HOST ? Where::pinned : Where::pageable;
}
