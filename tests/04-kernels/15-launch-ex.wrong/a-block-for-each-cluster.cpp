// Rejected with: "as many clusters as run at the same time are launched"
// As many blocks as clusters would fit, so most of the device stays empty.
#define launch_clusters right_launch_clusters  // this file has its own; launch_all is the solution's
#include "04-kernels/15-launch-ex/solution.cpp"
#undef launch_clusters

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
  config.gridDimX = std::max<unsigned>(fit / cluster * cluster, cluster);
  return cuLaunchKernelEx(&config, kernel, arguments, nullptr);
}
