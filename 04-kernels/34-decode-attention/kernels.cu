// Attention of one new token for each request, with the keys and values of earlier tokens in a cache.
#include "04-kernels/tiles.hpp"
#include "exact.hpp"
#include "shape.hpp"
#include "work.hpp"

#include <cmath>

constexpr float kLog2E = 1.44269504f, kLn2 = 0.693147181f;

__device__ inline float exp2_approximately(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// What a warp, a block or several blocks know about the rows of q that use one head of k and v. `largest` is times
// scale and log2 e; `sum` and the output are relative to it.
template <int kD>
struct State {
  Sums<1, kD> output;
  float largest[2] = {-INFINITY, -INFINITY}, sum[2] = {};
};

// A warp's pages in shared memory: a ring of kStages pairs of k and v.
template <int kD, int kStages>
class Ring {
 public:
  __device__ Ring(const Decode& p, unsigned memory) : p_(p), memory_(memory + warp() * kStages * kStageBytes) {}

  // Begins with the pages of a part.
  __device__ void start(const Part& part) {
    part_ = part;
    keys_ = p_.lengths[part.request];
    table_ = p_.table + static_cast<std::size_t>(part.request) * p_.table_pitch;
    for (int i = 0; i < kStages - 1; ++i) copy(part.first + i);
  }
  // Waits for the page of this unit, and starts to copy a later one.
  __device__ void wait(int unit) {
    ampere::cp_async_wait<kStages - 2>();
    __syncwarp();
    copy(unit + kStages - 1);
  }
  __device__ unsigned k(int unit) const { return memory_ + (unit - part_.first) % kStages * kStageBytes; }
  __device__ unsigned v(int unit) const { return k(unit) + kPageBytes<kD>; }
  // How many keys of the warp's page of this unit exist.
  __device__ int keys(int unit) const { return keys_ - (unit * kWarps + warp()) * kPage; }

 private:
  static constexpr int kStageBytes = 2 * kPageBytes<kD>;

  __device__ void copy(int unit) {
    if (unit < part_.last && keys(unit) > 0) {
      const std::size_t page = table_[unit * kWarps + warp()];
      const std::size_t first = (page * p_.kv_heads + part_.head) * kPage * kD;
      copy(k(unit), static_cast<const __nv_bfloat16*>(p_.k) + first, keys(unit));
      copy(v(unit), static_cast<const __nv_bfloat16*>(p_.v) + first, keys(unit));
    }
    ampere::cp_async_commit();
  }
  // A warp copies kPage rows. Rows that do not exist become zero: a page may contain anything behind the last key, and
  // 0 × NaN is NaN.
  __device__ static void copy(unsigned to, const __nv_bfloat16* from, int rows) {
    constexpr int kAcross = kD / kVector, kRowStep = 32 / kAcross;
    const int row = lane() / kAcross, vector = lane() % kAcross;
#pragma unroll
    for (int i = row; i < kPage; i += kRowStep) {
      const bool inside = i < rows;
      ampere::cp_async_or_zero(to + offset<kD>(i, vector), from + (inside ? i * kD : 0) + vector * kVector, inside);
    }
  }

  const Decode& p_;
  unsigned memory_;
  Part part_{};
  int keys_ = 0;
  const int* table_ = nullptr;
};

// The rows of q that use one head, 16 of them, as left operands. Rows that do not exist are zero.
template <int kD>
__device__ void load_queries(unsigned (&to)[kD / kMma][4], const Decode& p, const Part& part) {
  const auto* const q = static_cast<const __nv_bfloat16*>(p.q) +
                        (std::size_t{static_cast<unsigned>(part.request)} * p.kv_heads + part.head) * p.group * kD;
#pragma unroll
  for (int k = 0; k < kD / kMma; ++k) {
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int row = lane() / 4 + r % 2 * 8, column = k * kMma + lane() % 4 * 2 + r / 2 * 8;
      to[k][r] = row < p.group ? *reinterpret_cast<const unsigned*>(q + row * kD + column) : 0;
    }
  }
}

template <int kD>
__device__ void rescale(State<kD>& state, int i, float largest) {
  const float factor = exp2_approximately(state.largest[i] - (largest == -INFINITY ? 0 : largest));
  state.largest[i] = largest, state.sum[i] *= factor;
#pragma unroll
  for (int j = 0; j < state.output.kEach; ++j) state.output.of_row(i, j) *= factor;
}

// Adds a page of keys to what the warp knows.
template <int kD>
__device__ void attend(State<kD>& state, const unsigned (&q)[kD / kMma][4], unsigned k, unsigned v, int keys,
                       float scale) {
  Sums<1, kPage> scores;
#pragma unroll
  for (int d = 0; d < kD / kMma; ++d) {
    unsigned b[2][2];
    ampere::ldmatrix_x4(b, shifted<kD>(right<kD>(k), 0, d));
    ampere::mma(scores.at[0][0][0], q[d], b[0]);
    ampere::mma(scores.at[0][0][1], q[d], b[1]);
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    float largest = -INFINITY;
#pragma unroll
    for (int j = 0; j < scores.kEach; ++j) {
      float& score = scores.of_row(i, j);
      score = scores.column(j) < keys ? score * scale : -INFINITY;
      largest = fmaxf(largest, score);
    }
    largest = fmaxf(largest_of_four(largest), state.largest[i]);
    if (__any_sync(0xffffffff, largest > state.largest[i])) rescale(state, i, largest);
    const float subtract = largest == -INFINITY ? 0 : largest;
#pragma unroll
    for (int j = 0; j < scores.kEach; ++j) {
      scores.of_row(i, j) = exp2_approximately(scores.of_row(i, j) - subtract);
      state.sum[i] += scores.of_row(i, j);
    }
  }
  unsigned weights[1][4];
  as_operand(weights, scores, 0);
  multiply_part(state.output, weights, v, 0);
}

// A row's maximum and sum, and a factor for its output.
struct Total {
  float largest, sum;
};
__device__ inline float factor_of(const Total& part, float largest) {
  return part.largest == -INFINITY ? 0 : exp2_approximately(part.largest - largest);
}

// Adds up what the warps of the block know about each row: `floats` receives kMostGroup rows of kD sums, and `totals`
// one total for each row. All of it is in shared memory, also `of_warps`.
template <int kD>
__device__ void combine_warps(State<kD>& state, float* sums, Total (&totals)[kMostGroup],
                              Total (&of_warps)[kWarps][kMostGroup]) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const float sum = sum_of_four(state.sum[i]);
    if (lane() % 4 == 0) of_warps[warp()][i * 8 + lane() / 4] = {state.largest[i], sum};
  }
  for (int i = threadIdx.x; i < kMostGroup * kD; i += kThreads) sums[i] = 0;
  __syncthreads();
  if (threadIdx.x < kMostGroup) {
    Total total = {-INFINITY, 0};
    for (int w = 0; w < kWarps; ++w) total.largest = fmaxf(total.largest, of_warps[w][threadIdx.x].largest);
    for (int w = 0; w < kWarps; ++w) {
      total.sum += of_warps[w][threadIdx.x].sum * factor_of(of_warps[w][threadIdx.x], total.largest);
    }
    totals[threadIdx.x] = total;
  }
  __syncthreads();
  for (int w = 0; w < kWarps; ++w) {  // one warp after the other, so that the order of the additions is fixed
    if (warp() == w) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int row = i * 8 + lane() / 4;
        const float factor = factor_of({state.largest[i], 0}, totals[row].largest);
#pragma unroll
        for (int j = 0; j < state.output.kEach; ++j) {
          sums[row * kD + state.output.column(j)] += state.output.of_row(i, j) * factor;
        }
      }
    }
    __syncthreads();
  }
}

// Stores o and lse of the rows of a pair.
template <int kD>
__device__ void finish(const Decode& p, const Part& part, const float* sums, const Total* totals) {
  const std::size_t first = (std::size_t{static_cast<unsigned>(part.request)} * p.kv_heads + part.head) * p.group;
  for (int i = threadIdx.x; i < p.group * kD; i += kThreads) {
    const float sum = totals[i / kD].sum;
    static_cast<__nv_bfloat16*>(p.o)[first * kD + i] = __float2bfloat16_rn(sum > 0 ? sums[i] / sum : 0);
  }
  if (threadIdx.x < p.group) {
    const Total& total = totals[threadIdx.x];
    p.lse[first + threadIdx.x] = total.sum > 0 ? total.largest * kLn2 + logf(total.sum) : -INFINITY;
  }
}

// The memory for a block's part of a pair that it shares with other blocks. A block has at most two such parts: one
// whose first keys belong to another block, and one that only lacks its last keys.
template <int kD>
__device__ float* memory_of(const Decode& p, int block, bool begins) {
  return p.parts + static_cast<std::size_t>(block) * kPartFloats<kD> + (begins ? kPartFloats<kD> / 2 : 0);
}

// Stores the block's part. The block that is the last to do so for a pair combines all parts.
template <int kD>
__device__ void share(const Decode& p, const Work& work, const Part& part, float* sums, Total (&totals)[kMostGroup]) {
  __shared__ bool is_last;
  float* const mine = memory_of<kD>(p, blockIdx.x, part.begins);
  for (int i = threadIdx.x; i < p.group * kD; i += kThreads) mine[i] = sums[i];
  auto* const my_totals = reinterpret_cast<Total*>(mine + kMostGroup * kD);
  if (threadIdx.x < p.group) my_totals[threadIdx.x] = totals[threadIdx.x];
  __threadfence();
  __syncthreads();
  const int first = work.first_block(part), last = work.last_block(part);
  unsigned* const done = p.done + part.request * p.kv_heads + part.head;
  if (threadIdx.x == 0) {
    is_last = atomicAdd(done, 1) == static_cast<unsigned>(last - first);
    if (is_last) *done = 0;
    __threadfence();
  }
  __syncthreads();
  if (!is_last) return;
  const auto totals_of = [&](int block) {
    return reinterpret_cast<const Total*>(memory_of<kD>(p, block, block == first) + kMostGroup * kD);
  };
  if (threadIdx.x < p.group) {
    Total total = {-INFINITY, 0};
    for (int b = first; b <= last; ++b) total.largest = fmaxf(total.largest, totals_of(b)[threadIdx.x].largest);
    for (int b = first; b <= last; ++b) {
      total.sum += totals_of(b)[threadIdx.x].sum * factor_of(totals_of(b)[threadIdx.x], total.largest);
    }
    totals[threadIdx.x] = total;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < p.group * kD; i += kThreads) {
    float sum = 0;
    for (int b = first; b <= last; ++b) {
      sum += memory_of<kD>(p, b, b == first)[i] * factor_of(totals_of(b)[i / kD], totals[i / kD].largest);
    }
    sums[i] = sum;
  }
  __syncthreads();
  finish<kD>(p, part, sums, totals);
}

template <int kD, int kStages>
__device__ void decode(const Decode& p) {
  extern __shared__ __align__(1024) char memory[];
  __shared__ int starts[kMostRequests + 1];
  __shared__ Total totals[kMostGroup], of_warps[kWarps][kMostGroup];
  static_assert(kSharedBytes<kD, kStages> >= static_cast<int>(sizeof(float)) * kMostGroup * kD);
  auto* const sums = reinterpret_cast<float*>(memory);
  Work work(p, starts);
  Ring<kD, kStages> ring(p, ampere::shared_address(memory));
  while (!work.empty()) {
    const Part part = work.next();
    unsigned q[kD / kMma][4];
    ring.start(part);
    load_queries<kD>(q, p, part);
    State<kD> state;
    for (int unit = part.first; unit < part.last; ++unit) {
      ring.wait(unit);
      if (ring.keys(unit) > 0) attend<kD>(state, q, ring.k(unit), ring.v(unit), ring.keys(unit), p.scale * kLog2E);
    }
    ampere::cp_async_wait<0>();
    __syncthreads();  // the sums occupy the memory of the pages
    combine_warps<kD>(state, sums, totals, of_warps);
    if (part.begins && part.ends) {
      finish<kD>(p, part, sums, totals);
    } else {
      share<kD>(p, work, part, sums, totals);
    }
    __syncthreads();
  }
}

#define DECODE(d, stages, blocks)                                                                          \
  extern "C" __global__ void __launch_bounds__(kThreads, blocks) decode_##d##_##stages(const Decode p) { \
    decode<d, stages>(p);                                                                                  \
  }
DECODE(128, 3, 2)
DECODE(128, 6, 1)
DECODE(64, 6, 2)
