// Rejected with: "tiles are overwritten only after all warps have read them"
// The next tile is copied while other warps still read the last one.
// Attention with a sliding window: each row of q uses the keys from window - 1 rows before it up to its own.
#include "04-kernels/tiles.hpp"

constexpr int kHead = 64;      // elements of a row
constexpr int kRows = 64;      // of q, which a block computes, and rows of k and v in each step
constexpr int kThreads = 128;  // four warps, which compute 16 rows each
constexpr int kTileBytes = kRows * kHead * kElementBytes;
using Scores = Sums<1, kRows>;   // a warp's 16 rows, one column for each key of the step
using Output = Sums<1, kHead>;   // a warp's 16 rows of o
using Fragments = unsigned[kHead / kMma][1][4];  // a warp's 16 rows of q

// scores += q × the transpose of a tile of k. Call it with scores that are zero.
__device__ void multiply(Scores& scores, const Fragments& q, unsigned tile) {
  for (int k = 0; k < kHead / kMma; ++k) {
    for (int j = 0; j < scores.kAcross; ++j) {
      unsigned b[2][2];
      ampere::ldmatrix_x4(b, shifted<kHead>(right<kHead>(tile), j, k));
      for (int half = 0; half < 2; ++half) ampere::mma(scores.at[0][j][half], q[k][0], b[half]);
    }
  }
}

// output += weights × a tile of v
__device__ void accumulate(Output& output, const Scores& weights, unsigned tile) {
  for (int k = 0; k < weights.kAcross; ++k) {
    unsigned a[1][4];
    as_operand(a, weights, k);
    for (int j = 0; j < output.kAcross; ++j) {
      unsigned b[2][2];
      ampere::ldmatrix_x4_trans(b, shifted<kHead>(left<kHead>(tile), k, j));
      for (int half = 0; half < 2; ++half) ampere::mma(output.at[0][j][half], a[0], b[half]);
    }
  }
}

// q, k, v and o have n rows in each head. Head h of q uses head h / group of k and v. lse has an element for each row
// of q: the natural logarithm of the sum of the exponentials of its scores, where a score is scale × the product of
// two rows. Block (b, h) computes the rows from 64 b on of head h. n and window are positive.
extern "C" __global__ void __launch_bounds__(kThreads)
    attend(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, __nv_bfloat16* o, float* lse, int n,
           int window, int group, float scale) {
  __shared__ __align__(128) char memory[3 * kTileBytes];
  const unsigned tile_of_q = ampere::shared_address(memory);
  const unsigned tile_of_k = tile_of_q + kTileBytes, tile_of_v = tile_of_k + kTileBytes;
  const int first_row = blockIdx.x * kRows, row = first_row + warp() * 16;  // of the block, of the warp
  const std::size_t head = std::size_t{blockIdx.y} * n, other = std::size_t{blockIdx.y / group} * n;
  copy_tile<kRows, kHead, kThreads>(tile_of_q, q + (head + first_row) * kHead, kHead, n - first_row);
  ampere::cp_async_commit();
  ampere::cp_async_wait<0>();
  __syncthreads();
  Fragments queries;
  for (int i = 0; i < kHead / kMma; ++i) {
    ampere::ldmatrix_x4(queries[i][0], shifted<kHead>(left<kHead>(tile_of_q), warp(), i));
  }
  Output output;
  float largest[2] = {-INFINITY, -INFINITY}, sum[2] = {};  // of the lane's two rows
  const int first_tile = max(0, first_row - window + 1) / kRows;
  for (int first_key = first_tile * kRows; first_key < min(n, first_row + kRows); first_key += kRows) {
    const std::size_t from = (other + first_key) * kHead;
    copy_tile<kRows, kHead, kThreads>(tile_of_k, k + from, kHead, n - first_key);
    copy_tile<kRows, kHead, kThreads>(tile_of_v, v + from, kHead, n - first_key);
    ampere::cp_async_commit();
    ampere::cp_async_wait<0>();
    __syncthreads();
    Scores scores;
    multiply(scores, queries, tile_of_k);
    for (int i = 0; i < 2; ++i) {
      const int at = row + scores.row(i);
      float most = largest[i];
      for (int j = 0; j < scores.kEach; ++j) {
        const int key = first_key + scores.column(j);
        if (key > at || key <= at - window) scores.of_row(i, j) = -INFINITY;
        most = fmaxf(most, scores.of_row(i, j));
      }
      most = largest_of_four(most);
      const float subtract = most == -INFINITY ? 0 : most;  // the tile may have no key for this row
      const float factor = __expf((largest[i] - subtract) * scale);
      largest[i] = most;
      sum[i] *= factor;
      for (int j = 0; j < output.kEach; ++j) output.of_row(i, j) *= factor;
      for (int j = 0; j < scores.kEach; ++j) {
        scores.of_row(i, j) = __expf((scores.of_row(i, j) - subtract) * scale);
        sum[i] += scores.of_row(i, j);
      }
    }
    accumulate(output, scores, tile_of_v);
  }
  for (int i = 0; i < 2; ++i) {
    const float total = sum_of_four(sum[i]);
    for (int j = 0; j < output.kEach; ++j) output.of_row(i, j) /= total;
    const int at = row + output.row(i);
    if (at < n && lane() % 4 == 0) lse[head + at] = largest[i] * scale + logf(total);
  }
  store(output, o + (head + row) * kHead, n - row);
}
