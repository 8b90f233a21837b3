// Add up the rows of a matrix that the TMA loads box by box.
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
  // Your code here. Initialize the barrier. Then load each box, wait for it, and add this thread's row to `sum`.
  sums[first_row + threadIdx.x] = sum;
}
