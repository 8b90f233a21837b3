// Rejected with: "it works when no context is current"
// cuMemHostGetFlags needs a current context; the attributes of a pointer do not.
#include "common/cu.hpp"

enum class Where { pageable, pinned, device, managed };

Where where(const void* pointer) {
  unsigned flags = 0, managed = 0;
  const auto address = reinterpret_cast<CUdeviceptr>(pointer);
  const CUresult pinned = cuMemHostGetFlags(&flags, const_cast<void*>(pointer));
  if (pinned == CUDA_SUCCESS) return Where::pinned;
  if (pinned != CUDA_ERROR_INVALID_VALUE) CU_THROW(pinned);
  if (cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address) != CUDA_SUCCESS) return Where::pageable;
  return managed ? Where::managed : Where::device;
}
