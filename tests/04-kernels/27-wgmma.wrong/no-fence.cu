// Rejected with: "a fence orders the sums before the multiplications"
// Without the fence, the tensor cores may not see the zeros in the sums.
#include "04-kernels/wgmma.hpp"

#include <cuda_bf16.h>

constexpr int kTile = 64;                                            // rows and columns of y that a block computes
constexpr int kDepth = 64;                                           // products of each sum per step
constexpr int kThreads = 128;                                        // one warpgroup
constexpr unsigned kBytes = kTile * kDepth * sizeof(__nv_bfloat16);  // of a box of x or of w, 128 bytes in each row
using Box = unsigned char[kBytes];

// Stores a thread's sums to y, from this element on.
__device__ void store(const float (&sums)[32], __nv_bfloat16* y, int columns) {
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4, column = lane % 4 * 2;
  for (int i = 0; i < 32; i += 2) {
    *reinterpret_cast<__nv_bfloat162*>(y + (row + i / 2 % 2 * 8) * columns + i / 4 * 8 + column) =
        __floats2bfloat162_rn(sums[i], sums[i + 1]);
  }
}

// y[r][c] = the sum of x[r][k] * w[c][k] over all k < inner, a multiple of 8. The maps describe boxes of 64 × 64
// elements, swizzled; elements beyond the end of a matrix are loaded as zeros. Block (bx, by) computes the tile whose
// first row is 64 by, and whose first column is 64 bx.
extern "C" __global__ void __launch_bounds__(kThreads)
    linear(const __grid_constant__ CUtensorMap map_x, const __grid_constant__ CUtensorMap map_w, __nv_bfloat16* y,
           int columns, int inner) {
  __shared__ __align__(1024) Box x, w;
  __shared__ std::uint64_t full;
  const int row = blockIdx.y * kTile, column = blockIdx.x * kTile;
  if (threadIdx.x == 0) {
    hopper::mbarrier_init(full, 1);
    hopper::fence_mbarrier_init();
  }
  __syncthreads();
  float sums[32] = {};
  for (int k = 0, step = 0; k < inner; k += kDepth, ++step) {
    if (threadIdx.x == 0) {
      hopper::mbarrier_arrive_expect_tx(full, 2 * kBytes);
      hopper::tma_load(x, map_x, k, row, full);
      hopper::tma_load(w, map_w, k, column, full);
    }
    hopper::mbarrier_wait(full, step % 2);
    // The matrices in shared memory, 16 elements in k further each time: 32 bytes, or two units of a descriptor.
    for (int part = 0; part < 4; ++part) {
      hopper::wgmma<hopper::Major::kK>(sums, hopper::matrix_descriptor(x) + 2 * part,
                                       hopper::matrix_descriptor(w) + 2 * part, true);
    }
    hopper::wgmma_commit();
    hopper::wgmma_wait<0>();
    __syncthreads();  // the boxes have been multiplied, so the next loads may overwrite them
  }
  store(sums, y + row * columns + column, columns);
}
