// Rejected with: "matrices that are not square"
// A row of b is taken to be `inner` elements long, which is true only of square matrices.
extern "C" __global__ void multiply(const float* a, const float* b, float* c, int rows, int inner, int columns) {
  constexpr int kTile = 64, kDepth = 16, kThreads = 256;
  constexpr int kEach = 4, kApart = kTile / kEach;  // a thread's elements are 16 rows and columns apart
  __shared__ float tile_a[kTile][kDepth], tile_b[kDepth][kTile];
  const int top = blockIdx.y * kTile, left = blockIdx.x * kTile;
  const int y = threadIdx.x / kApart, x = threadIdx.x % kApart;
  float sum[kEach][kEach] = {};
  for (int first = 0; first < inner; first += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
      const int row = top + i / kDepth, k = first + i % kDepth;
      tile_a[i / kDepth][i % kDepth] = row < rows && k < inner ? a[static_cast<size_t>(row) * inner + k] : 0;
    }
    for (int i = threadIdx.x; i < kDepth * kTile; i += kThreads) {
      const int k = first + i / kTile, column = left + i % kTile, place = k * inner + column;
      tile_b[i / kTile][i % kTile] = k < inner && column < columns && place < inner * columns ? b[place] : 0;
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
