// Rejected with: "the results are complete when the function returns, even if the device was busy"
// A launch returns before the kernel has run, and no later copy waits for it.
#include "common/cu.hpp"

void run_in_place(CUfunction kernel, float* numbers, int n) {
  const bool ours = cuMemHostRegister(numbers, n * sizeof(float), 0) == CUDA_SUCCESS;
  CUdeviceptr address;
  CU_THROW(cuMemHostGetDevicePointer(&address, numbers, 0));
  void* arguments[] = {&address, &n};
  CU_THROW(cuLaunchKernel(kernel, 8, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  if (ours) CU_THROW(cuMemHostUnregister(numbers));
}
