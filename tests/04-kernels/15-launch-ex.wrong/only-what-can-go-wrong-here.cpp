// Rejected with: "every call is checked: the first failure is returned, and nothing is launched"
// Without a context there is no device to query, and the error does not surface before the launch.
#define launch_all right_launch_all  // this file has its own; launch_clusters is the solution's
#include "04-kernels/15-launch-ex/solution.cpp"
#undef launch_all

CUresult launch_all(CUfunction kernel, unsigned threads, unsigned shared_bytes, void** arguments) {
  CUdevice device = 0;
  int multiprocessors = 1, fit;
  cuCtxGetDevice(&device);
  cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  CU_RETURN(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, static_cast<int>(threads), shared_bytes));

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
  return cuLaunchKernelEx(&config, kernel, arguments, nullptr);
}
