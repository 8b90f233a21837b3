// Rejected with: "one box: every row has its sum"
// The phase before the first one counts as completed, so the first wait returns at once.
#include "04-kernels/hopper.hpp"

constexpr int kRows = 64, kColumns = 32;                       // of a box
constexpr unsigned kBytes = kRows * kColumns * sizeof(float);  // of a box
using Elements = float[kRows][kColumns];

// The sum of a row of the box. In each row, the eight vectors of four floats are permuted by the swizzle of 128 bytes.
__device__ float sum_of_row(const Elements& box, int row) {
  float sum = 0;
  for (int vector = 0; vector < 8; ++vector) {
    const float4 v = reinterpret_cast<const float4*>(box[row])[vector ^ row % 8];
    sum += (v.x + v.y) + (v.z + v.w);
  }
  return sum;
}

// sums[i] = the sum of row i of a matrix of floats whose rows are `boxes` boxes long. `map` describes boxes of kRows ×
// kColumns elements, swizzled. Block b of kRows threads adds the rows from b * kRows on. The TMA loads each box once.
extern "C" __global__ void row_sums(const __grid_constant__ CUtensorMap map, float* sums, int boxes) {
  __shared__ __align__(1024) Elements box;
  __shared__ std::uint64_t full;
  const int first_row = blockIdx.x * kRows;
  float sum = 0;
  if (threadIdx.x == 0) {
    hopper::mbarrier_init(full, 1);  // one arrival per phase: that of the thread that issues the load
    hopper::fence_mbarrier_init();
  }
  __syncthreads();
  for (int i = 0; i < boxes; ++i) {
    if (threadIdx.x == 0) {
      hopper::mbarrier_arrive_expect_tx(full, kBytes);
      hopper::tma_load(box, map, i * kColumns, first_row, full);
    }
    hopper::mbarrier_wait(full, (i + 1) % 2);
    sum += sum_of_row(box, threadIdx.x);
    __syncthreads();  // all threads have read the box, so the next load may overwrite it
  }
  sums[first_row + threadIdx.x] = sum;
}
