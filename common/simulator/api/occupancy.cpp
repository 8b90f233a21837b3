// Occupancy (CUDA Driver API manual, "Occupancy").
#include "common/simulator/state/launches/occupancy.hpp"

#include "common/simulator/api/call.hpp"
#include "common/simulator/state/modules/library.hpp"

namespace cudasim {

namespace {

std::shared_ptr<Function> function_or_kernel(CUfunction handle) {
  return get_function_or_kernel(handle, current_context());
}

CUresult max_active_blocks(int* count, CUfunction func, int block_size, size_t dynamic_shared, unsigned flags) {
  const auto function = function_or_kernel(func);
  require(count != nullptr && block_size > 0);
  require((flags & ~static_cast<unsigned>(CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)) == 0);
  *count = static_cast<int>(blocks_per_multiprocessor(*function, static_cast<u64>(block_size),
                                                      static_cast<u32>(dynamic_shared)));  // as driver 580
  return CUDA_SUCCESS;
}

CUresult potential_block_size(int* grid_size, int* block_size, CUfunction func, CUoccupancyB2DSize shared_of,
                              size_t dynamic_shared, int limit, unsigned flags) {
  const auto function = function_or_kernel(func);
  require(grid_size != nullptr && block_size != nullptr && limit >= 0);
  require((flags & ~static_cast<unsigned>(CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)) == 0);
  const auto best = fullest_block_size(*function, static_cast<u32>(limit), [&](u32 threads) {
    return shared_of != nullptr ? shared_of(static_cast<int>(threads)) : dynamic_shared;
  });
  *grid_size = static_cast<int>(best.blocks_per_multiprocessor * kMultiprocessors);
  *block_size = static_cast<int>(best.threads);
  return CUDA_SUCCESS;
}

LaunchShape shape_of(const CUlaunchConfig& config) {
  LaunchShape shape;
  shape.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
  shape.block = {config.blockDimX, config.blockDimY, config.blockDimZ};
  shape.dynamic_shared = config.sharedMemBytes;
  require(config.numAttrs == 0 || config.attrs != nullptr);
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
    const auto& dim = config.attrs[i].value.clusterDim;
    if (dim.x != 0 || dim.y != 0 || dim.z != 0) shape.cluster = Dim3{dim.x, dim.y, dim.z};
  }
  return shape;
}

}  // namespace

CUresult driver::call_cuOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, CUfunction func, int blockSize,
                                                                  size_t dynamicSMemSize) {
  return max_active_blocks(numBlocks, func, blockSize, dynamicSMemSize, 0);
}

CUresult driver::call_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, CUfunction func,
                                                                           int blockSize, size_t dynamicSMemSize,
                                                                           unsigned int flags) {
  return max_active_blocks(numBlocks, func, blockSize, dynamicSMemSize, flags);
}

CUresult driver::call_cuOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, CUfunction func,
                                                       CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                       size_t dynamicSMemSize, int blockSizeLimit) {
  return potential_block_size(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit,
                              0);
}

CUresult driver::call_cuOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize, CUfunction func,
                                                                CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                                size_t dynamicSMemSize, int blockSizeLimit,
                                                                unsigned int flags) {
  return potential_block_size(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit,
                              flags);
}

CUresult driver::call_cuOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, CUfunction func, int numBlocks,
                                                              int blockSize) {
  const auto function = function_or_kernel(func);
  require(dynamicSmemSize != nullptr && numBlocks > 0 && blockSize > 0);
  require(static_cast<u32>(blockSize) <= kMaxThreadsPerBlock);
  require(static_cast<u32>(numBlocks) <= blocks_per_multiprocessor(*function, static_cast<u64>(blockSize), 0));
  *dynamicSmemSize = available_dynamic_shared(*function, static_cast<u32>(numBlocks));
  return CUDA_SUCCESS;
}

CUresult driver::call_cuOccupancyMaxPotentialClusterSize(int* clusterSize, CUfunction func,
                                                         const CUlaunchConfig* config) {
  const auto function = function_or_kernel(func);
  require(clusterSize != nullptr && config != nullptr);
  const LaunchShape shape = shape_of(*config);
  const bool fits = blocks_per_multiprocessor(*function, shape.block.count(), shape.dynamic_shared) != 0;
  const bool more = function->current_settings().non_portable_cluster != 0;
  *clusterSize = static_cast<int>(!fits ? 0 : more ? kLargestCluster : kPortableCluster);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuOccupancyMaxActiveClusters(int* numClusters, CUfunction func, const CUlaunchConfig* config) {
  const auto function = function_or_kernel(func);
  require(numClusters != nullptr && config != nullptr);
  const LaunchShape shape = shape_of(*config);
  const FunctionSettings settings = function->current_settings();
  const Kernel& kernel = *function->kernel;
  if (!shape.cluster && !required_cluster(kernel, settings) && !kernel.directives.explicit_cluster) {
    *numClusters = 0;  // as driver 580; the manual has an error
    return CUDA_SUCCESS;
  }
  if (settings.non_portable_cluster != 0 && shape.cluster && shape.cluster->count() > kLargestCluster) {
    *numClusters = 0;  // only a launch treats it as an error
    return CUDA_SUCCESS;
  }
  *numClusters = static_cast<int>(active_clusters(*function, shape));
  return CUDA_SUCCESS;
}

}  // namespace cudasim
