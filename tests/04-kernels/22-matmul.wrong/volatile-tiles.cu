// Rejected with: "at most 0.5 floats are loaded from shared memory for each multiply-add"
// The tiles are volatile, so the compiler must load both factors of each multiply-add from shared memory. It cannot
// keep them in registers.
extern "C" __global__ void multiply(const float* a, const float* b, float* c, int rows, int inner, int columns) {
  constexpr int kTile = 64, kDepth = 16, kThreads = 256;
  constexpr int kEach = 4, kApart = kTile / kEach;  // a thread's elements are 16 rows and columns apart
  __shared__ volatile float tile_a[kTile][kDepth], tile_b[kDepth][kTile];
  const int top = blockIdx.y * kTile, left = blockIdx.x * kTile;
  const int y = threadIdx.x / kApart, x = threadIdx.x % kApart;
  float sum[kEach][kEach] = {};
  for (int first = 0; first < inner; first += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
      const int row = top + i / kDepth, k = first + i % kDepth;
      tile_a[i / kDepth][i % kDepth] = row < rows && k < inner ? a[static_cast<size_t>(row) * inner + k] : 0;
    }
    for (int i = threadIdx.x; i < kDepth * kTile; i += kThreads) {
      const int k = first + i / kTile, column = left + i % kTile;
      tile_b[i / kTile][i % kTile] = k < inner && column < columns ? b[static_cast<size_t>(k) * columns + column] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) sum[i][j] += tile_a[y + i * kApart][k] * tile_b[k][x + j * kApart];
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
