// Rejected with: "a driver error is thrown, and the vector is pageable again"
// An exception skips the line that unregisters.
#include "common/cu.hpp"

void run_in_place(CUfunction kernel, float* numbers, int n) {
  unsigned flags;
  const bool ours = cuMemHostGetFlags(&flags, numbers) != CUDA_SUCCESS;  // it succeeds only for pinned memory
  if (ours) CU_THROW(cuMemHostRegister(numbers, n * sizeof(float), 0));

  CUdeviceptr address;
  CU_THROW(cuMemHostGetDevicePointer(&address, numbers, 0));
  void* arguments[] = {&address, &n};
  CU_THROW(cuLaunchKernel(kernel, 8, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  CU_THROW(cuCtxSynchronize());
  if (ours) CU_THROW(cuMemHostUnregister(numbers));
}
