#include "common/simulator/state/launches/occupancy.hpp"

#include "common/simulator/numbers.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace cudasim {
namespace {

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

}  // namespace

u32 blocks_per_multiprocessor(const Function& function, u64 threads, u64 dynamic_shared) {
  return blocks_per_multiprocessor(*function.kernel, function.current_settings(), threads, dynamic_shared);
}

u32 blocks_per_multiprocessor(const Kernel& kernel, const FunctionSettings& settings, u64 threads, u64 dynamic_shared) {
  if (threads == 0 || threads > max_threads_per_block(kernel)) return 0;
  if (dynamic_shared > static_cast<u64>(settings.max_dynamic_shared)) return 0;
  return blocks_that_fit(kernel, threads, dynamic_shared);
}

BlockSize fullest_block_size(const Function& function, u32 limit, const std::function<u64(u32 threads)>& shared_of) {
  const u32 most = max_threads_per_block(*function.kernel);
  const u32 top = limit == 0 ? most : std::min(most, limit);
  BlockSize best;
  for (u32 size = static_cast<u32>(round_up(top, kWarpSize)); size >= kWarpSize; size -= kWarpSize) {
    const u32 threads = std::min(size, top);
    const u32 blocks = blocks_per_multiprocessor(function, threads, shared_of(threads));
    if (blocks * threads > best.blocks_per_multiprocessor * best.threads) best = {threads, blocks};
  }
  return best;
}

u64 available_dynamic_shared(const Function& function, u32 blocks) {
  const u64 share = kSharedPerMultiprocessor / blocks / kSharedUnit * kSharedUnit;
  const u64 own = function.kernel->static_shared;
  const auto most = static_cast<u64>(function.current_settings().max_dynamic_shared);
  return share > own ? std::min(share - own, most) : 0;
}

u64 active_clusters(const Function& function, const LaunchShape& shape) {
  const FunctionSettings settings = function.current_settings();
  const u64 size = cluster_of(*function.kernel, settings, shape).count();
  u64 blocks = blocks_per_multiprocessor(*function.kernel, settings, shape.block.count(), shape.dynamic_shared);
  // For a kernel that has no shared memory of its own an H200 counts 8 blocks of 128 threads, not 16: as many as the
  // smallest share of 8 KiB has room for what the system keeps.
  constexpr u64 kSmallestShare = 8192;
  if (function.kernel->static_shared + u64{shape.dynamic_shared} == 0)
    blocks = std::min(blocks, kSmallestShare / kSharedReserved);
  return clusters_that_fit(size, blocks);
}

}  // namespace cudasim
