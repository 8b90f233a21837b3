// Rejected with: "the numbers of a vector are squared"
// The vector is pageable, so the driver has no device address for it.
#include "common/cu.hpp"

void run_in_place(CUfunction kernel, float* numbers, int n) {
  CUdeviceptr address;
  CU_THROW(cuMemHostGetDevicePointer(&address, numbers, 0));
  void* arguments[] = {&address, &n};
  CU_THROW(cuLaunchKernel(kernel, 8, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  CU_THROW(cuCtxSynchronize());
}
