// Attention of one new token for each request, with the keys and values of its earlier tokens in a cache. Each kernel
// changes one thing in an earlier one.
#include "decode.hpp"
#include "exact.hpp"
#include "read.hpp"

#define KERNEL(name, ...)                                                                                  \
  extern "C" __global__ void __launch_bounds__(kThreads, kBlocks) name(const __grid_constant__ Decode p) { \
    decode<__VA_ARGS__>(p);                                                                                \
  }

KERNEL(per_head_128, PerHead<128>)
KERNEL(grouped_128, Grouped<128>)
KERNEL(split_128, Split<128>)
KERNEL(paged_128, Paged<128>)
KERNEL(even_128, Even<128>)
KERNEL(fp8_128, Fp8<128>)
KERNEL(even_64, Even<64>)

KERNEL(split_per_head_128, SplitPerHead<128>)
