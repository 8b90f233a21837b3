// Rejected with: "a driver error is thrown, and the vector is pageable again"
// No return value is checked. If the kernel never ran, the caller mistakes the old numbers for the results.
#include "common/cu.hpp"

void run_in_place(CUfunction kernel, float* numbers, int n) {
  unsigned flags;
  const bool ours = cuMemHostGetFlags(&flags, numbers) != CUDA_SUCCESS;  // it succeeds only for pinned memory
  if (ours) cuMemHostRegister(numbers, n * sizeof(float), 0);
  struct Unregister {
    float* registered;
    ~Unregister() {
      if (registered != nullptr) CU_REPORT(cuMemHostUnregister(registered));
    }
  } unregister{ours ? numbers : nullptr};

  CUdeviceptr address;
  cuMemHostGetDevicePointer(&address, numbers, 0);
  void* arguments[] = {&address, &n};
  cuLaunchKernel(kernel, 8, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr);
  cuCtxSynchronize();
}
