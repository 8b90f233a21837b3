// How many blocks fit on a multiprocessor at once: the arithmetic of compute capability 9.0 (CUDA Programming Guide,
// "Technical Specifications per Compute Capability").
#pragma once
#include "common/simulator/state/module.hpp"

namespace cudasim {

constexpr u32 kSharedUnit = 128;  // shared memory is given to a block in units of this many bytes

// 0 if not even one fits. `dynamic_shared` in bytes.
u32 blocks_per_multiprocessor(const Function& function, u64 threads, u64 dynamic_shared);
u32 blocks_per_multiprocessor(const Kernel& kernel, const FunctionSettings& settings, u64 threads, u64 dynamic_shared);

// The same without what a function may ask for by its attributes. `limit`, if there is one, becomes what the next block
// would lack.
u32 blocks_that_fit(const Kernel& kernel, u64 threads, u64 dynamic_shared, const char** limit = nullptr);

// The most threads that a block of this kernel can have: its launch bounds, else the device's.
u32 max_threads_per_block(const Kernel& kernel);

}  // namespace cudasim
