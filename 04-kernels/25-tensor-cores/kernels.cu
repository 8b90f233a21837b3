// Matrix products on the tensor cores of compute capability 8.0 and later: c = a × b in bfloat16 with FP32 sums. Each
// kernel changes one thing in an earlier one.
#include "04-kernels/clock.hpp"
#include "04-kernels/verify.hpp"
#include "pipeline.hpp"

// `mma`, `ldmatrix` and `swizzled`: in each step, the block copies a tile of a and one of b through registers to shared
// memory, and then multiplies them.
template <class S>
__device__ void copy_then_multiply(const Product& p) {
  extern __shared__ __align__(128) char stage[];
  const Part tile = whole_tile<S>(p, blockIdx.x);
  ShareOfA<S> share_a(p.a, tile.row, 0, p.inner);
  ShareOfB<S> share_b(p.b, 0, tile.column, p.columns);
  Sums<S> sums;
  for (int k = 0; k < p.inner; k += S::kDepth) {
    uint4 a[ShareOfA<S>::kCount], b[ShareOfB<S>::kCount];
    share_a.each([&](int i, int, const uint4* from) { a[i] = *from; });
    share_b.each([&](int i, int, const uint4* from) { b[i] = *from; });
    share_a.each([&](int i, int to, const uint4*) { *reinterpret_cast<uint4*>(stage + to) = a[i]; });
    share_b.each([&](int i, int to, const uint4*) { *reinterpret_cast<uint4*>(stage + kBytesOfA<S> + to) = b[i]; });
    share_a.advance(S::kDepth), share_b.advance(std::size_t(S::kDepth) * p.columns);
    __syncthreads();
#pragma unroll
    for (int depth = 0; depth < S::kDepth; depth += kMma) {
      Fragments<S> fragments;
      if constexpr (S::kLdmatrix) {
        const unsigned tiles = ampere::shared_address(stage);
        load<S>(fragments, tiles, tiles + kBytesOfA<S>, depth);
      } else {
        load_separately<S>(fragments, stage, stage + kBytesOfA<S>, depth);
      }
      multiply(sums, fragments);
    }
    __syncthreads();
  }
  store(sums, p, tile.row, tile.column);
}

// `cp_async`, `wide` and `multistage`.
template <class S>
__device__ void copy_and_multiply(const Product& p) {
  Pipeline<S, WholeTiles<S>> pipeline(p, WholeTiles<S>(p));
  WholeTiles<S> tiles(p);
  for (Part tile; tiles.next(tile);) {
    Sums<S> sums;
    for (int step = 0; step < tile.steps; ++step) {
      pipeline.wait();
      pipeline.copy();  // into the stage that was read in the step before
#pragma unroll
      for (int depth = 0; depth < S::kDepth; depth += kMma) {
        Fragments<S> fragments;
        load<S>(fragments, pipeline.a(), pipeline.b(), depth);
        multiply(sums, fragments);
      }
      pipeline.next();
    }
    store(sums, p, tile.row, tile.column);
  }
}

template <class S>
__device__ void compute(const Product& p) {
  if constexpr (S::kStages == 1) {
    copy_then_multiply<S>(p);
  } else if constexpr (S::kAhead) {
    load_ahead_and_multiply<S>(p, WholeTiles<S>(p),
                               [&](const Sums<S>& sums, const Part& tile) { store(sums, p, tile.row, tile.column); });
  } else {
    copy_and_multiply<S>(p);
  }
}

#define KERNEL(name, ...)                                                                                           \
  extern "C" __global__ void __launch_bounds__(kThreads<__VA_ARGS__>, __VA_ARGS__::kBlocks) name(const Product p) { \
    compute<__VA_ARGS__>(p);                                                                                        \
  }

KERNEL(mma, Mma)
KERNEL(ldmatrix, Ldmatrix)
KERNEL(swizzled, Swizzled)
KERNEL(cp_async, CpAsync)
KERNEL(wide, Wide)
KERNEL(multistage_3, Multistage<3>)
KERNEL(multistage_4, Multistage<4>)
KERNEL(ahead_2, Ahead<2>)
KERNEL(ahead_3, Ahead<3>)
KERNEL(ahead_4, Ahead<4>)
KERNEL(square, Square)
KERNEL(small, Small)

KERNEL(unswizzled, Unswizzled)
KERNEL(no_copies, NoCopies)
KERNEL(only_mma, OnlyMma)
