// Run a kernel on host memory, in place.
#include "common/cu.hpp"

#include <memory>

// Runs kernel(numbers, n) on n floats of host memory, in place. When the function returns, the results are in
// `numbers`. The numbers may be pageable, registered, or allocated as pinned memory. Pageable memory must be pageable
// again afterwards, even if an exception is thrown; memory that was pinned before must stay pinned. Allocate no memory
// and copy nothing. The kernel's parameters are a CUdeviceptr and an int; 8 blocks of 256 threads are enough. A context
// is current. Throws cu::Error if a driver call fails (CU_THROW).
void run_in_place(CUfunction kernel, float* numbers, int n) {
  unsigned int type;
  const auto asked = reinterpret_cast<CUdeviceptr>(numbers);
  const CUresult known = cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, asked);
  const bool pageable = known == CUDA_ERROR_INVALID_VALUE;  // the driver does not know the address (03-03)
  if (pageable) {
    CU_THROW(cuMemHostRegister(numbers, n * sizeof(float), 0));
  } else {
    CU_THROW(known);
  }
  const auto unregister = [](float* ours) { CU_REPORT(cuMemHostUnregister(ours)); };
  const std::unique_ptr<float, decltype(unregister)> pin(pageable ? numbers : nullptr, unregister);

  CUdeviceptr address;
  CU_THROW(cuMemHostGetDevicePointer(&address, numbers, 0));
  void* arguments[] = {&address, &n};
  CU_THROW(cuLaunchKernel(kernel, 8, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  CU_THROW(cuCtxSynchronize());
}
