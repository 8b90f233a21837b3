// Rejected with: "every address in device memory is recognized, not only the first"
// It accepts only the first address of an allocation, but a caller may pass any address in it.
#include "common/cu.hpp"

enum class Where { pageable, pinned, device, managed };

Where where(const void* pointer) {
  unsigned type = 0, managed = 0;
  CUdeviceptr begin = 0;
  const auto address = reinterpret_cast<CUdeviceptr>(pointer);
  if (cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) != CUDA_SUCCESS) return Where::pageable;
  if (type == CU_MEMORYTYPE_HOST) return Where::pinned;
  CU_THROW(cuPointerGetAttribute(&begin, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address));
  CU_THROW(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
  if (begin != address) return Where::pageable;
  return managed ? Where::managed : Where::device;
}
