// The gradients of attention in bfloat16, on the tensor cores of compute capability 8.0 and later.
#include "04-kernels/clock.hpp"
#include "by_keys.hpp"
#include "by_queries.hpp"
#include "exact.hpp"
#include "pairs.hpp"

// Before the other kernels: lse and delta of all rows, and zeros for the sums. A warp computes one row. Rows without
// keys, and those beyond the last one, get an infinite lse, so that all their weights are 0.
template <int kD>
__device__ void prepare(const Attention& p, const Gradients& g) {
  const int row = blockIdx.x * kRowsOfPrepare + warp();
  const std::size_t at = std::size_t{blockIdx.y} * p.queries + row, padded = std::size_t{blockIdx.y} * g.pitch + row;
  float delta = 0, lse = INFINITY;
  if (row < p.queries) {
    for (int i = lane(); i < kD; i += 32) {
      delta += __bfloat162float(elements(p.o)[at * kD + i]) * __bfloat162float(elements(g.o)[at * kD + i]);
    }
    if (p.lse[at] != -INFINITY) lse = p.lse[at] * kLog2E;
  }
  for (int distance = 16; distance > 0; distance /= 2) delta += __shfl_xor_sync(0xffffffff, delta, distance);
  if (lane() == 0) g.lse[padded] = lse, g.delta[padded] = delta;
  for (int i = lane(); g.sums != nullptr && i < kD; i += 32) g.sums[padded * kD + i] = 0;
}

// After the kernel with atomics: the gradient of q from its sums. A warp has 16 rows.
template <int kD>
__device__ void convert(const Attention& p, const Gradients& g, bool coalesced) {
  const int row = blockIdx.x * kRowsOfConvert + warp() * kMma;
  const float* const from = g.sums + (std::size_t{blockIdx.y} * g.pitch + row) * kD;
  Sums<1, kD> sums;
#pragma unroll
  for (int i = 0; i < sums.kRows; ++i) {
#pragma unroll
    for (int j = 0; j < sums.kEach; ++j) sums.of_row(i, j) = from[place_of_sum<kD>(coalesced, i, j)] * p.scale;
  }
  store(sums, static_cast<__nv_bfloat16*>(g.q) + (std::size_t{blockIdx.y} * p.queries + row) * kD, p.queries - row);
}

#define KERNEL(name, function, ...)                                                         \
  extern "C" __global__ void __launch_bounds__(kThreads<__VA_ARGS__>, __VA_ARGS__::kBlocks) \
      name(const Attention p, const Gradients g) {                                          \
    function<__VA_ARGS__>(p, g);                                                            \
  }
#define KERNELS(d)                                                                                   \
  extern "C" __global__ void prepare_##d(const Attention p, const Gradients g) { prepare<d>(p, g); } \
  extern "C" __global__ void convert_##d(const Attention p, const Gradients g, bool coalesced) {     \
    convert<d>(p, g, coalesced);                                                                     \
  }                                                                                                  \
  KERNEL(by_queries_##d, by_queries, ByQueries<d>)                                                   \
  KERNEL(pairs_##d, by_pairs, Pairs<d>)                                                              \
  KERNEL(pairs_fixed_##d, by_pairs, PairsFixed<d>)
KERNELS(64)
KERNELS(128)
KERNEL(by_keys_128, by_keys, ByKeys<128>)
KERNEL(atomics_128, by_keys, Atomics<128>)
KERNEL(coalesced_128, by_keys, Coalesced<128>)

KERNEL(atomics_no_additions_128, by_keys, NoAdditions<Atomics<128>>)
KERNEL(atomics_only_additions_128, by_keys, OnlyAdditions<Atomics<128>>)
KERNEL(coalesced_only_additions_128, by_keys, OnlyAdditions<Coalesced<128>>)
KERNEL(pairs_no_additions_128, by_pairs, NoAdditions<Pairs<128>>)
