// Rejected with: "each call is checked, and the vector is pageable again if one fails"
// It waits, but ignores whether the kernel has failed.
#include "common/cu.hpp"

void run_in_place(CUfunction kernel, float* numbers, int n) {
  unsigned flags;
  const bool ours = cuMemHostGetFlags(&flags, numbers) != CUDA_SUCCESS;  // it succeeds only for pinned memory
  if (ours) CU_THROW(cuMemHostRegister(numbers, n * sizeof(float), 0));
  struct Unregister {
    float* registered;
    ~Unregister() {
      if (registered != nullptr) CU_REPORT(cuMemHostUnregister(registered));
    }
  } unregister{ours ? numbers : nullptr};

  CUdeviceptr address;
  CU_THROW(cuMemHostGetDevicePointer(&address, numbers, 0));
  void* arguments[] = {&address, &n};
  CU_THROW(cuLaunchKernel(kernel, 8, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  cuCtxSynchronize();
}
