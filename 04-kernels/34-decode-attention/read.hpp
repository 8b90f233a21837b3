// How fast is the memory? Lesson 05-17 includes this, too.
#pragma once
#include <cstddef>

// Only reads both parts of the cache, to measure how fast the memory is. It stores nothing, unless the exclusive or of
// a thread's vectors consists of ones.
extern "C" __global__ void __launch_bounds__(256) read(const uint4* k, const uint4* v, std::size_t vectors, uint4* to) {
  constexpr int kAhead = 4;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  uint4 all{};
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < vectors; i += kAhead * threads) {
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      if (i + j * threads >= vectors) continue;
      const uint4 a = __ldg(k + i + j * threads), b = __ldg(v + i + j * threads);
      all = {all.x ^ a.x ^ b.x, all.y ^ a.y ^ b.y, all.z ^ a.z ^ b.z, all.w ^ a.w ^ b.w};
    }
  }
  if ((all.x & all.y & all.z & all.w) == ~0u) *to = all;
}
