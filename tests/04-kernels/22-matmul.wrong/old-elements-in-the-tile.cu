// Rejected with: "an inner dimension of any length"
// Elements outside the matrices are not loaded, and nothing replaces them. The tile still contains the elements of the
// step before, which are multiplied again.
extern "C" __global__ void multiply(const float* a, const float* b, float* c, int rows, int inner, int columns) {
  constexpr int kTile = 64, kDepth = 16, kThreads = 256;
  constexpr int kEach = 4, kApart = kTile / kEach;  // a thread's elements are 16 rows and columns apart
  __shared__ float tile_a[kTile][kDepth], tile_b[kDepth][kTile];
  const int top = blockIdx.y * kTile, left = blockIdx.x * kTile;
  const int y = threadIdx.x / kApart, x = threadIdx.x % kApart;
  float sum[kEach][kEach] = {};
  for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) (&tile_a[0][0])[i] = (&tile_b[0][0])[i] = 0;
  __syncthreads();
  for (int first = 0; first < inner; first += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
      const int row = top + i / kDepth, k = first + i % kDepth;
      if (row < rows && k < inner) tile_a[i / kDepth][i % kDepth] = a[static_cast<size_t>(row) * inner + k];
    }
    for (int i = threadIdx.x; i < kDepth * kTile; i += kThreads) {
      const int k = first + i / kTile, column = left + i % kTile;
      if (k < inner && column < columns) tile_b[i / kTile][i % kTile] = b[static_cast<size_t>(k) * columns + column];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float from_a[kEach], from_b[kEach];
#pragma unroll
      for (int i = 0; i < kEach; ++i) from_a[i] = tile_a[y + i * kApart][k];
#pragma unroll
      for (int j = 0; j < kEach; ++j) from_b[j] = tile_b[k][x + j * kApart];
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) sum[i][j] += from_a[i] * from_b[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int row = top + y + i * kApart, column = left + x + j * kApart;
      if (row < rows && column < columns) c[static_cast<size_t>(row) * columns + column] = sum[i][j];
    }
  }
}
