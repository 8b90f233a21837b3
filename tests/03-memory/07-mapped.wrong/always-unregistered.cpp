// Rejected with: "pinned memory stays pinned, whether allocated or registered"
// It unregisters memory that the caller has registered.
#include "common/cu.hpp"

void run_in_place(CUfunction kernel, float* numbers, int n) {
  unsigned flags;
  if (cuMemHostGetFlags(&flags, numbers) != CUDA_SUCCESS) CU_THROW(cuMemHostRegister(numbers, n * sizeof(float), 0));
  CUdeviceptr address;
  CU_THROW(cuMemHostGetDevicePointer(&address, numbers, 0));
  void* arguments[] = {&address, &n};
  CU_THROW(cuLaunchKernel(kernel, 8, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  CU_THROW(cuCtxSynchronize());
  (void)cuMemHostUnregister(numbers);
}
