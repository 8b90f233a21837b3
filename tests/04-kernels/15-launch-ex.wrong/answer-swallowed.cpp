// Rejected with: "an impossible block is rejected"
// Whatever the launch returns, the caller receives success.
#define launch_all right_launch_all  // this file has its own; launch_clusters is the solution's
#include "04-kernels/15-launch-ex/solution.cpp"
#undef launch_all

CUresult launch_all(CUfunction kernel, unsigned threads, unsigned shared_bytes, void** arguments) {
  CUdevice device;
  int multiprocessors, fit;
  CU_RETURN(cuCtxGetDevice(&device));
  CU_RETURN(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  if (cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, static_cast<int>(threads), shared_bytes) !=
      CUDA_SUCCESS)
    fit = 1;

  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  CUlaunchConfig config{};
  config.gridDimX = static_cast<unsigned>(fit * multiprocessors);
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = threads;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = shared_bytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cuLaunchKernelEx(&config, kernel, arguments, nullptr);
  return CUDA_SUCCESS;
}
