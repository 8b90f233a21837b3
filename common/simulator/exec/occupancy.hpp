// How many blocks of a kernel fit on a multiprocessor at once: the arithmetic of compute capability 9.0 (CUDA
// Programming Guide, "Technical Specifications per Compute Capability").
#pragma once
#include "common/simulator/exec/instruction.hpp"

namespace cudasim {

constexpr u32 kSharedUnit = 128;  // shared memory is allocated to a block in units of this many bytes

// 0 if not even one fits. `dynamic_shared` in bytes. `limit`, if given, becomes what the next block would lack.
u32 blocks_that_fit(const Kernel& kernel, u64 threads, u64 dynamic_shared, const char** limit = nullptr);

// The most threads that a block of this kernel can have: its launch bounds, else the device's.
u32 max_threads_per_block(const Kernel& kernel);

}  // namespace cudasim
