// Rejected with: "tiles are overwritten only after all warps have read them"
// The next tiles are copied while other warps still read the last ones.
// The gradients of k and v in causal attention. The weights are computed again from the scores and the lse.
#include "04-kernels/tiles.hpp"

constexpr int kHead = 64;      // elements of a row
constexpr int kRows = 64;      // of k and v, which a block computes, and rows of q in each step
constexpr int kThreads = 128;  // four warps, which compute 16 rows each
constexpr int kTileBytes = kRows * kHead * kElementBytes;
constexpr float kLog2E = 1.44269504f;
using Scores = Sums<1, kRows>;    // a warp's 16 rows of k, one column for each row of q in the step
using Gradient = Sums<1, kHead>;  // of a warp's 16 rows of k or v

// The matrices have n rows in each head. Head h of q uses head h / group of k and v, and row i uses the keys 0 to i.
// of_o is the gradient of o. For each row of q, lse is the natural logarithm of the sum of the exponentials of its
// scores, and delta is the product of its rows of o and of_o. A score is scale × the product of two rows. Block (b, h)
// computes of_k and of_v, the gradients, for the rows from 64 b on of head h of k and v. n is positive.
extern "C" __global__ void __launch_bounds__(kThreads)
    backward(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, const __nv_bfloat16* of_o,
             const float* lse, const float* delta, __nv_bfloat16* of_k, __nv_bfloat16* of_v, int n, int group,
             float scale) {
  __shared__ __align__(128) char memory[4 * kTileBytes];
  const unsigned tile_of_k = ampere::shared_address(memory), tile_of_v = tile_of_k + kTileBytes;
  const unsigned tile_of_q = tile_of_v + kTileBytes, tile_of_o = tile_of_q + kTileBytes;
  const int first_key = blockIdx.x * kRows, key = first_key + warp() * 16;  // of the block, of the warp
  const std::size_t head = std::size_t{blockIdx.y} * n;                     // of k and v
  copy_tile<kRows, kHead, kThreads>(tile_of_k, k + (head + first_key) * kHead, kHead, n - first_key);
  copy_tile<kRows, kHead, kThreads>(tile_of_v, v + (head + first_key) * kHead, kHead, n - first_key);
  ampere::cp_async_commit();
  const unsigned my_rows_of_k = left<kHead>(tile_of_k + warp() * 16 * kHead * kElementBytes);
  const unsigned my_rows_of_v = my_rows_of_k + kTileBytes;
  Gradient sums_k, sums_v;
  for (int of_q = blockIdx.y * group; of_q < static_cast<int>(blockIdx.y + 1) * group; ++of_q) {
    for (int row = first_key; row < n; row += kRows) {  // earlier rows do not use the block's keys
      const std::size_t at = std::size_t(of_q) * n + row;
      copy_tile<kRows, kHead, kThreads>(tile_of_q, q + at * kHead, kHead, n - row);
      copy_tile<kRows, kHead, kThreads>(tile_of_o, of_o + at * kHead, kHead, n - row);
      ampere::cp_async_commit();
      ampere::cp_async_wait<0>();
      __syncthreads();
      Scores weights, gradients;
      multiply_transposed<kHead>(weights, my_rows_of_k, tile_of_q);
      multiply_transposed<kHead>(gradients, my_rows_of_v, tile_of_o);
      for (int j = 0; j < weights.kEach; ++j) {
        const int query = row + weights.column(j);
        const float of_lse = query < n ? lse[at + weights.column(j)] : 0;
        const float of_delta = query < n ? delta[at + weights.column(j)] : 0;
        for (int i = 0; i < weights.kRows; ++i) {
          const bool used = key + weights.row(i) <= query && query < n;
          const float weight = used ? exp2f((weights.of_row(i, j) * scale - of_lse) * kLog2E) : 0;
          weights.of_row(i, j) = weight;
          gradients.of_row(i, j) = weight * (gradients.of_row(i, j) - of_delta);
        }
      }
      for (int part = 0; part < weights.kAcross; ++part) {
        unsigned a[1][4];
        as_operand(a, weights, part);
        multiply_part(sums_v, a, tile_of_o, part);
        as_operand(a, gradients, part);
        multiply_part(sums_k, a, tile_of_q, part);
      }
    }
  }
  for (int i = 0; i < sums_k.kRows; ++i) {
    for (int j = 0; j < sums_k.kEach; ++j) sums_k.of_row(i, j) *= scale;
  }
  store(sums_k, of_k + (head + key) * kHead, n - key);
  store(sums_v, of_v + (head + key) * kHead, n - key);
}
