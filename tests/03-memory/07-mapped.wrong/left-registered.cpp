// Rejected with: "a vector is pageable again afterwards"
// The pages stay locked. When the vector is freed, the driver still has them registered.
#include "common/cu.hpp"

void run_in_place(CUfunction kernel, float* numbers, int n) {
  unsigned flags;
  if (cuMemHostGetFlags(&flags, numbers) != CUDA_SUCCESS) CU_THROW(cuMemHostRegister(numbers, n * sizeof(float), 0));
  CUdeviceptr address;
  CU_THROW(cuMemHostGetDevicePointer(&address, numbers, 0));
  void* arguments[] = {&address, &n};
  CU_THROW(cuLaunchKernel(kernel, 8, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  CU_THROW(cuCtxSynchronize());
}
