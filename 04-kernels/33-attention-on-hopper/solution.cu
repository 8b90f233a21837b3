// Block-local attention with wgmma: each row of q uses only the keys of its own tile of 64 rows.
#include "04-kernels/tiles.hpp"
#include "04-kernels/wgmma.hpp"

#include <cstdint>

constexpr int kHead = 64;      // elements of a row
constexpr int kRows = 64;      // of a tile of q, k and v
constexpr int kThreads = 128;  // one warpgroup
constexpr unsigned kBytes = kRows * kHead * kElementBytes;  // of a tile, which is one box
using Box = unsigned char[kBytes];
using Scores = Sums<1, kRows>;  // a warp's 16 rows, one column for each key
using Output = Sums<1, kHead>;  // a warp's 16 rows of o

// Replaces the scores by their weights. `largest` and `sum`: of the lane's two rows.
__device__ void weigh(Scores& scores, int keys, float scale, float (&largest)[2], float (&sum)[2]) {
  for (int i = 0; i < 2; ++i) {
    largest[i] = -INFINITY, sum[i] = 0;
    for (int j = 0; j < scores.kEach; ++j) {
      if (scores.column(j) >= keys) scores.of_row(i, j) = -INFINITY;
      largest[i] = fmaxf(largest[i], scores.of_row(i, j));
    }
    largest[i] = largest_of_four(largest[i]);
    for (int j = 0; j < scores.kEach; ++j) {
      scores.of_row(i, j) = __expf((scores.of_row(i, j) - largest[i]) * scale);
      sum[i] += scores.of_row(i, j);
    }
    sum[i] = sum_of_four(sum[i]);
  }
}

// q, k, v and o have n rows in each head, and the maps describe boxes of 64 × 64 elements, swizzled. Rows past the end
// of a head are loaded as zeros. They are not keys: their scores are 0, but their weights must be 0, too. Head h of q
// uses head h / group of k and v. Block (b, h) computes the rows from 64 b on of head h, for which `keys` keys exist.
// lse has an element for each row of q: the natural logarithm of the sum of the exponentials of its scores, where a
// score is scale × the product of two rows.
extern "C" __global__ void __launch_bounds__(kThreads)
    attend(const __grid_constant__ CUtensorMap map_q, const __grid_constant__ CUtensorMap map_k,
           const __grid_constant__ CUtensorMap map_v, __nv_bfloat16* o, float* lse, int n, int group, float scale) {
  __shared__ __align__(1024) Box q, k, v;
  __shared__ std::uint64_t full_q_and_k, full_v;
  const int first = blockIdx.x * kRows, row = first + warp() * 16;  // of the block, of the warp
  const int keys = min(n - first, kRows), head = blockIdx.y;
  if (threadIdx.x == 0) {
    hopper::mbarrier_init(full_q_and_k, 1), hopper::mbarrier_init(full_v, 1);
    hopper::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    hopper::mbarrier_arrive_expect_tx(full_q_and_k, 2 * kBytes);
    hopper::tma_load(q, map_q, 0, first, head, full_q_and_k);
    hopper::tma_load(k, map_k, 0, first, head / group, full_q_and_k);
    hopper::mbarrier_arrive_expect_tx(full_v, kBytes);
    hopper::tma_load(v, map_v, 0, first, head / group, full_v);
  }
  Scores scores;
  Output output;
  hopper::mbarrier_wait(full_q_and_k, 0);
  hopper::wgmma_fence();
  for (int i = 0; i < kHead / kMma; ++i) {
    hopper::wgmma<hopper::Major::kK>(registers(scores), hopper::matrix_descriptor(q) + 2 * i,
                                     hopper::matrix_descriptor(k) + 2 * i, i > 0);
  }
  hopper::wgmma_commit();
  hopper::wgmma_wait<0>();
  hopper::keep(registers(scores));
  float largest[2], sum[2];
  weigh(scores, keys, scale, largest, sum);
  for (int i = 0; i < 2; ++i) {
    const int at = row + scores.row(i);
    if (at < n && lane() % 4 == 0) lse[static_cast<std::size_t>(head) * n + at] = largest[i] * scale + logf(sum[i]);
  }
  unsigned weights[kRows / kMma][1][4];
  for (int i = 0; i < kRows / kMma; ++i) as_operand(weights[i], scores, i);
  hopper::mbarrier_wait(full_v, 0);
  hopper::wgmma_fence();
  for (int i = 0; i < kRows / kMma; ++i) {  // 16 rows of v are 2048 bytes
    hopper::wgmma<hopper::Major::kMN>(registers(output), weights[i][0], hopper::matrix_descriptor(v) + 128 * i, i > 0);
  }
  hopper::wgmma_commit();
  hopper::wgmma_wait<0>();
  hopper::keep(registers(output));
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < output.kEach; ++j) output.of_row(i, j) /= sum[i];
  }
  store(output, o + (static_cast<std::size_t>(head) * n + row) * kHead, n - row);
}
