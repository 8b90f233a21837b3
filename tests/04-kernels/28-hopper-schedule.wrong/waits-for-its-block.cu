// Rejected with: "in every step, a block learns that the other one has read its boxes"
// The other block may still read the boxes that this block overwrites.
#include "04-kernels/hopper.hpp"

constexpr int kRows = 64, kColumns = 32;  // of a box of a
constexpr int kHalf = kRows / 2;          // rows of a box of b
using Elements = float[kRows][kColumns];
constexpr unsigned kBytes = sizeof(Elements);

// The sum of the products of two rows. In each row, the eight vectors of four floats are permuted by the swizzle.
__device__ float product_of_rows(const Elements& a, const Elements& b, int row) {
  float sum = 0;
  for (int vector = 0; vector < 8; ++vector) {
    const float4 v = reinterpret_cast<const float4*>(a[row])[vector ^ row % 8];
    const float4 w = reinterpret_cast<const float4*>(b[row])[vector ^ row % 8];
    sum += (v.x * w.x + v.y * w.y) + (v.z * w.z + v.w * w.w);
  }
  return sum;
}

// products[i] = the sum of a[i][k] * b[i % 64][k] over all k. The rows of a and b are `boxes` boxes long. `map_a`
// describes boxes of 64 rows of a, and `map_b` boxes of 32 rows of b, which has 64 rows. Block n of 64 threads computes
// 64 products, from 64 n on. Two blocks form a cluster: each loads half of every box of b, for both of them.
extern "C" __global__ void __cluster_dims__(2)
    row_products(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, float* products,
                 int boxes) {
  __shared__ __align__(1024) Elements a, b;
  __shared__ std::uint64_t full;
  const int first_row = blockIdx.x * kRows, rank = hopper::cluster_rank();
  float sum = 0;
  if (threadIdx.x == 0) {
    hopper::mbarrier_init(full, 1);
    hopper::fence_mbarrier_init();
  }
  hopper::cluster_sync();  // the other block's loads need this block's barrier
  for (int i = 0; i < boxes; ++i) {
    if (threadIdx.x == 0) {
      hopper::mbarrier_arrive_expect_tx(full, 2 * kBytes);  // one half of b comes from the other block
      hopper::tma_load(a, map_a, i * kColumns, first_row, full);
      hopper::tma_load_multicast(b[rank * kHalf], map_b, i * kColumns, rank * kHalf, full, 0b11);
    }
    hopper::mbarrier_wait(full, i % 2);
    sum += product_of_rows(a, b, threadIdx.x);
    __syncthreads();  // both blocks have read their boxes, so either may load the next ones
  }
  hopper::cluster_sync();
  products[first_row + threadIdx.x] = sum;
}
