// Rejected with: "each call is checked, and a vector is not pinned when one fails"
// It waits, and does not ask how the kernel ended.
#include "common/cu.hpp"

void run_in_place(CUfunction kernel, float* numbers, int n) {
  unsigned flags;
  const bool ours = cuMemHostGetFlags(&flags, numbers) != CUDA_SUCCESS;  // it answers only for pinned memory
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
