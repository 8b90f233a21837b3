// Multiply matrices of any shape, with a register tile.

// `a` has `rows` rows of `inner` floats, `b` has `inner` rows of `columns` floats, and `c` gets `rows` rows of
// `columns` floats: c = a × b. Launched with blocks of 256 threads, one for each tile of 64 × 64 elements of c:
// blockIdx.x is the tile's place in its row of tiles, blockIdx.y the row. The last tiles may extend beyond c, but
// memory outside the matrices must not be accessed. A block loads each element of a and b that it needs once from
// global memory, and a thread loads at most 0.5 floats from shared memory for each multiply-add. In full tiles, a
// warp's loads and stores touch as few sectors of global memory as possible, and no access to shared memory has bank
// conflicts.
extern "C" __global__ void __launch_bounds__(256) multiply(const float* __restrict__ a, const float* __restrict__ b,
                                                           float* __restrict__ c, int rows, int inner, int columns) {
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
      const int k = first + i / kTile, column = left + i % kTile;
      tile_b[i / kTile][i % kTile] = k < inner && column < columns ? b[static_cast<size_t>(k) * columns + column] : 0;
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
