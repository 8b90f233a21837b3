// Rejected with: "a block reaches one barrier per step"
// A single buffer, and a second barrier before it is written again.
constexpr int kTile = 128, kDepth = 8, kThreads = 256;
constexpr int kEach = 8;  // a thread computes 8 × 8 elements, in groups of 4 × 4
struct Tiles {
  alignas(16) float a[kDepth][kTile], b[kDepth][kTile];
};

__device__ float4& vector(float& first) { return *reinterpret_cast<float4*>(&first); }
__device__ const float4& vector(const float& first) { return *reinterpret_cast<const float4*>(&first); }

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    multiply(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int rows, int columns,
             int inner) {
  __shared__ Tiles tiles;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int y = warp / 4 * 64 + lane / 4 * 4, x = warp % 4 * 32 + lane % 4 * 4;  // the first group
  constexpr int kNextRow = 32, kNextColumn = 16;                                 // the next group
  const int row = threadIdx.x / 32, column = threadIdx.x % 32 * 4;  // the vectors that the thread copies
  a += static_cast<size_t>(row) * rows + blockIdx.y * kTile + column;
  b += static_cast<size_t>(row) * columns + blockIdx.x * kTile + column;

  float4 next_a = vector(*a), next_b = vector(*b);
  float sum[kEach][kEach] = {};
  for (int first = 0; first < inner; first += kDepth) {
    __syncthreads();
    vector(tiles.a[row][column]) = next_a;
    vector(tiles.b[row][column]) = next_b;
    __syncthreads();
    if (first + kDepth < inner) {
      a += static_cast<size_t>(kDepth) * rows, b += static_cast<size_t>(kDepth) * columns;
      next_a = vector(*a), next_b = vector(*b);
    }
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      alignas(16) float from_a[kEach], from_b[kEach];
#pragma unroll
      for (int i = 0; i < kEach; i += 4) {
        vector(from_a[i]) = vector(tiles.a[k][y + i / 4 * kNextRow]);
        vector(from_b[i]) = vector(tiles.b[k][x + i / 4 * kNextColumn]);
      }
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) sum[i][j] += from_a[i] * from_b[j];
      }
    }
  }
  c += static_cast<size_t>(blockIdx.y * kTile + y) * columns + blockIdx.x * kTile + x;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
#pragma unroll
    for (int j = 0; j < kEach; j += 4) {
      const size_t at = static_cast<size_t>(i / 4 * kNextRow + i % 4) * columns + j / 4 * kNextColumn;
      vector(c[at]) = float4{sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]};
    }
  }
}
