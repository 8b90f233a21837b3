// How many blocks of a function fit on a multiprocessor at once, with what its attributes allow.
#pragma once
#include "common/simulator/exec/occupancy.hpp"
#include "common/simulator/state/module.hpp"

namespace cudasim {

// 0 if not even one fits. `dynamic_shared` in bytes.
u32 blocks_per_multiprocessor(const Function& function, u64 threads, u64 dynamic_shared);
u32 blocks_per_multiprocessor(const Kernel& kernel, const FunctionSettings& settings, u64 threads, u64 dynamic_shared);

}  // namespace cudasim
