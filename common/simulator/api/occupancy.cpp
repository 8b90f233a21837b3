// Occupancy (CUDA Driver API manual, "Occupancy").
#include "common/simulator/state/occupancy.hpp"

#include "common/simulator/api/call.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/state/launch.hpp"
#include "common/simulator/state/library.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

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

// The block size that keeps the most threads on a multiprocessor; the largest if several do.
CUresult potential_block_size(int* grid_size, int* block_size, CUfunction func, CUoccupancyB2DSize shared_of,
                              size_t dynamic_shared, int limit, unsigned flags) {
  const auto function = function_or_kernel(func);
  require(grid_size != nullptr && block_size != nullptr && limit >= 0);
  require((flags & ~static_cast<unsigned>(CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)) == 0);
  const u32 most = max_threads_per_block(*function->kernel);
  const u32 top = limit == 0 ? most : std::min(most, static_cast<u32>(limit));
  u32 best_threads = 0, best_size = 0, best_blocks = 0;
  for (u32 size = static_cast<u32>(round_up(top, kWarpSize)); size >= kWarpSize; size -= kWarpSize) {
    const u32 threads = std::min(size, top);
    const u64 shared = shared_of != nullptr ? shared_of(static_cast<int>(threads)) : dynamic_shared;
    const u32 blocks = blocks_per_multiprocessor(*function, threads, shared);
    if (blocks * threads <= best_threads) continue;
    best_threads = blocks * threads;
    best_size = threads;
    best_blocks = blocks;
  }
  *grid_size = static_cast<int>(best_blocks * kMultiprocessors);
  *block_size = static_cast<int>(best_size);
  return CUDA_SUCCESS;
}

// A cluster's blocks run at the same time on one group of multiprocessors. The sizes of an H200's groups are these:
// with them `clusters_that_fit` reproduces all 90 numbers that one returned for kernels with 1, 2, 3 and 8 blocks on a
// multiprocessor and clusters of 1 to 16 blocks. (Eights of them make the 15 parts of cuDevSmResourceSplitByCount.)
constexpr u32 kGroups[] = {18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2};
static_assert(std::accumulate(std::begin(kGroups), std::end(kGroups), 0u) == kMultiprocessors);

// A group takes no cluster of more blocks than it has multiprocessors, though each may take several blocks.
u64 clusters_that_fit(u64 size, u64 blocks_per_multiprocessor) {
  u64 count = 0;
  for (const u32 group : kGroups) count += size <= group ? group * blocks_per_multiprocessor / size : 0;
  return count;
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
  const u64 share = kSharedPerMultiprocessor / static_cast<u64>(numBlocks) / kSharedUnit * kSharedUnit;
  const u64 own = function->kernel->static_shared;
  const auto most = static_cast<u64>(function->current_settings().max_dynamic_shared);
  *dynamicSmemSize = share > own ? std::min(share - own, most) : 0;
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
  if (!shape.cluster && !required_cluster(*function) && !function->kernel->directives.explicit_cluster) {
    *numClusters = 0;  // as driver 580; the manual has an error
    return CUDA_SUCCESS;
  }
  if (function->current_settings().non_portable_cluster != 0 && shape.cluster &&
      shape.cluster->count() > kLargestCluster) {
    *numClusters = 0;  // only a launch treats it as an error
    return CUDA_SUCCESS;
  }
  const u64 size = cluster_of(*function, shape).count();
  u64 blocks = blocks_per_multiprocessor(*function, shape.block.count(), shape.dynamic_shared);
  // For a kernel that has no shared memory of its own an H200 counts 8 blocks of 128 threads, not 16: as many as the
  // smallest share of 8 KiB has room for what the system keeps.
  constexpr u64 kSmallestShare = 8192;
  if (function->kernel->static_shared + u64{shape.dynamic_shared} == 0)
    blocks = std::min(blocks, kSmallestShare / kSharedReserved);
  *numClusters = static_cast<int>(clusters_that_fit(size, blocks));
  return CUDA_SUCCESS;
}

}  // namespace cudasim
