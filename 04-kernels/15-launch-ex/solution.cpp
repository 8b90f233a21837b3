// Launch the largest grid whose blocks can wait for each other, and the largest one with clusters.
#include "common/cu.hpp"

#include <algorithm>

// Launches the kernel cooperatively in the default stream, with as many blocks of `threads` threads and `shared_bytes`
// bytes of dynamic shared memory as fit on the current device at the same time. Returns the result of the launch, or of
// the first call that fails before it.
CUresult launch_all(CUfunction kernel, unsigned threads, unsigned shared_bytes, void** arguments) {
  CUdevice device;
  int multiprocessors, fit;
  CU_RETURN(cuCtxGetDevice(&device));
  CU_RETURN(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  CU_RETURN(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, static_cast<int>(threads), shared_bytes));

  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  CUlaunchConfig config{};
  // If not even one block fits, launch one anyway: the error then says why. A grid of 0 blocks would only be invalid.
  config.gridDimX = static_cast<unsigned>(std::max(fit * multiprocessors, 1));
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = threads;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = shared_bytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cuLaunchKernelEx(&config, kernel, arguments, nullptr);
}

// Launches the kernel in the default stream with blocks of `threads` threads, in clusters of `cluster` blocks (at most
// 8): as many clusters as can run on the current device at the same time. If `early`, the kernel may start before the
// previous kernel in the stream has finished. Returns the result of the launch, or of the first call that fails before
// it.
CUresult launch_clusters(CUfunction kernel, unsigned threads, unsigned cluster, bool early, void** arguments) {
  CUlaunchAttribute attributes[2]{};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[0].value.clusterDim.x = cluster;
  attributes[0].value.clusterDim.y = attributes[0].value.clusterDim.z = 1;
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attributes[1].value.programmaticStreamSerializationAllowed = 1;

  CUlaunchConfig config{};
  config.gridDimX = cluster;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = threads;
  config.blockDimY = config.blockDimZ = 1;
  config.attrs = attributes;
  config.numAttrs = early ? 2 : 1;
  int fit;
  CU_RETURN(cuOccupancyMaxActiveClusters(&fit, kernel, &config));
  config.gridDimX = std::max(fit, 1) * cluster;  // if not even one fits, the launch says why
  return cuLaunchKernelEx(&config, kernel, arguments, nullptr);
}
