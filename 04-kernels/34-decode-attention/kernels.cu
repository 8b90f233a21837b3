// Attention of one new token for each request, with the keys and values of its earlier tokens in a cache. Each kernel
// changes one thing in an earlier one.
#include "exact.hpp"
#include "merge.hpp"
#include "ring.hpp"

template <class S>
__device__ void decode(const Decode& p) {
  extern __shared__ __align__(256) char memory[];
  __shared__ typename Work<S>::Memory of_work;
  __shared__ Totals totals;
  __shared__ Shared shared;
  const Work<S> work(p, of_work);
  Ring<S> ring(p, work, ampere::shared_address(memory));
  int shares = 0;
  for (Position at = work.first(); at.left > 0;) {
    const Part part = work.part(at);
    const std::size_t row =
        (std::size_t{static_cast<unsigned>(part.request)} * work.heads() + part.head) * rows_of<S>(p);
    Queries<S> queries;
    load_queries<S>(queries, static_cast<const __nv_bfloat16*>(p.q) + row * S::kHead, rows_of<S>(p));
    const float scale = p.scale * kLog2E * (S::kBytes == 2 ? 1 : p.k_scales[part.head]);
    State<S> state;
    for (int i = 0; i < part.steps; ++i, work.advance(at)) {
      ring.wait();
#pragma unroll
      for (int page = 0; page < kPages<S>; ++page) {
        const int keys = work.keys_of(part.request) - Ring<S>::first_key(at.step, page);
        if (keys > 0) state.add(queries, rows_of<S>(p), ring.k(page), ring.v(page), keys, scale);
      }
    }
    Merge<S>(p, part, work.heads())
        .merge_warps(state, memory + ring.used_offset(), S::kStages * kStageBytes<S>, totals);
    if (part.is_whole()) continue;
    if (threadIdx.x == 0) shared.parts[shares] = part;
    ++shares;
  }
  merge_shared<S>(p, shared, shares, work.heads());
}

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
