// Multiply x by the transpose of w on the tensor cores: the product of a linear layer, whose weights are stored row by
// row for each output.
#include "04-kernels/ampere.hpp"

#include <cstddef>

constexpr int kTile = 64;                                   // rows and columns of y that a block computes
constexpr int kDepth = 64;                                  // products of each sum per step
constexpr int kThreads = 128;                               // four warps, which compute 32 × 32 elements of y each
using Tile = char[kTile * kDepth * sizeof(__nv_bfloat16)];  // of x or of w, 128 bytes in each row

// Stores a warp's sums to y. `sums[i][j]`: 16 rows from `row` + 16 i on, 8 columns from `column` + 8 j on.
__device__ void store(const float (&sums)[2][4][4], __nv_bfloat16* y, int row, int column, int columns) {
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 4; ++j) {
      for (int half = 0; half < 2; ++half) {
        const int at = row + 16 * i + 8 * half + lane / 4;
        *reinterpret_cast<__nv_bfloat162*>(y + static_cast<std::size_t>(at) * columns + column + 8 * j + lane % 4 * 2) =
            __floats2bfloat162_rn(sums[i][j][2 * half], sums[i][j][2 * half + 1]);
      }
    }
  }
}

// y[r][c] = the sum of x[r][k] * w[c][k] over all k < inner. x has `inner` columns, w too, and y has `columns`. Rows
// and columns of y are multiples of 64, and `inner` is a multiple of 8. Block (bx, by) computes the tile whose first
// row is 64 by, and whose first column is 64 bx.
extern "C" __global__ void __launch_bounds__(kThreads)
    linear(const __nv_bfloat16* x, const __nv_bfloat16* w, __nv_bfloat16* y, int columns, int inner) {
  const int first_row = blockIdx.y * kTile, first_column = blockIdx.x * kTile;
  const int warp = threadIdx.x / 32;
  const int row = warp / 2 * 32, column = warp % 2 * 32;  // where the warp's part of the tile of y begins
  float sums[2][4][4] = {};
  // Your code here: add the products to `sums`. Copy tiles to shared memory with ampere::cp_async_or_zero, two steps at
  // a time. Load fragments with ampere::ldmatrix_x4, and multiply them with ampere::mma.
  store(sums, y, first_row + row, first_column + column, columns);
}
