// Run a kernel on numbers of the host, and leave them where they are.
#include "common/cu.hpp"

// Runs kernel(numbers, n) on n floats of host memory, in place; when it returns, the results are there. The numbers may
// be pinned or not; what was not pinned before is not pinned afterwards. No device memory is allocated, and nothing is
// copied. The kernel's arguments are a CUdeviceptr and an int; 8 blocks of 256 threads will do. A context is current.
// Throws cu::Error if the driver refuses (CU_THROW).
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
  CU_THROW(cuCtxSynchronize());
}
