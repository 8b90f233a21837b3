// Rejected with: "pinned numbers stay pinned, also registered ones"
// It undoes what somebody else did.
#include "common/cu.hpp"

void run_in_place(CUfunction kernel, float* numbers, int n) {
  const CUresult result = cuMemHostRegister(numbers, n * sizeof(float), 0);
  if (result != CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) CU_THROW(result);
  CUdeviceptr address;
  CU_THROW(cuMemHostGetDevicePointer(&address, numbers, 0));
  void* arguments[] = {&address, &n};
  CU_THROW(cuLaunchKernel(kernel, 8, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  CU_THROW(cuCtxSynchronize());
  (void)cuMemHostUnregister(numbers);
}
