// Rejected with: "all blocks of the grid reach the barrier"
// As many blocks as fit, but an ordinary launch does not guarantee that they run at the same time.
#define launch_all right_launch_all  // this file has its own; launch_clusters is the solution's
#include "04-kernels/15-launch-ex/solution.cpp"
#undef launch_all

CUresult launch_all(CUfunction kernel, unsigned threads, unsigned shared_bytes, void** arguments) {
  CUdevice device;
  int multiprocessors, fit;
  CU_RETURN(cuCtxGetDevice(&device));
  CU_RETURN(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  CU_RETURN(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, static_cast<int>(threads), shared_bytes));
  return cuLaunchKernel(kernel, std::max(fit * multiprocessors, 1), 1, 1, threads, 1, 1, shared_bytes, nullptr,
                        arguments, nullptr);
}
