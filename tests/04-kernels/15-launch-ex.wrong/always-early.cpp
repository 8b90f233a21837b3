// Rejected with: "a kernel may start early only if that was requested"
// Every kernel may start before the previous one has finished, whose results it may need.
#define launch_clusters right_launch_clusters  // this file has its own; launch_all is the solution's
#include "04-kernels/15-launch-ex/solution.cpp"
#undef launch_clusters

CUresult launch_clusters(CUfunction kernel, unsigned threads, unsigned cluster, bool, void** arguments) {
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
  config.numAttrs = 2;
  int fit;
  CU_RETURN(cuOccupancyMaxActiveClusters(&fit, kernel, &config));
  config.gridDimX = std::max(fit, 1) * cluster;  // if not even one fits, the launch says why
  return cuLaunchKernelEx(&config, kernel, arguments, nullptr);
}
