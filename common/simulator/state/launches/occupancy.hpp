// How many blocks and clusters of a function run at once, with what its attributes allow.
#pragma once
#include "common/simulator/exec/occupancy.hpp"
#include "common/simulator/state/launches/launch.hpp"
#include "common/simulator/state/modules/module.hpp"

#include <functional>

namespace cudasim {

// 0 if not even one fits. `dynamic_shared` in bytes.
u32 blocks_per_multiprocessor(const Function& function, u64 threads, u64 dynamic_shared);
u32 blocks_per_multiprocessor(const Kernel& kernel, const FunctionSettings& settings, u64 threads, u64 dynamic_shared);

struct BlockSize {
  u32 threads = 0, blocks_per_multiprocessor = 0;
};

// The block size up to `limit` threads (0: no limit) that keeps the most threads on a multiprocessor; the largest if
// several do. shared_of(threads): the dynamic shared memory of such a block, in bytes.
BlockSize fullest_block_size(const Function& function, u32 limit, const std::function<u64(u32 threads)>& shared_of);

// The dynamic shared memory, in bytes, that a block may have if `blocks` are to run on a multiprocessor.
u64 available_dynamic_shared(const Function& function, u32 blocks);

// How many clusters of the launch run at once on the device.
u64 active_clusters(const Function& function, const LaunchShape& shape);

}  // namespace cudasim
