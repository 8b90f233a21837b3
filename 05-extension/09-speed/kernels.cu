// y = x² + b, forward and backward, each in one pass over memory, and the product of two matrices. x has `rows` rows of
// `columns` floats, and b has one float for each column.

// Rows have unsigned numbers, because the last step of a loop can lead beyond the largest int.
// Four adjacent floats are one 128-bit load. Where an address or the number of columns is not a multiple of four
// floats, the kernels fall back to one float.
template <class Vector>
struct Lanes;
template <>
struct Lanes<float> {
  static constexpr int count = 1;
};
template <>
struct Lanes<float4> {
  static constexpr int count = 4;
};

template <class Vector>
union Floats {
  Vector vector;
  float each[Lanes<Vector>::count];
};

// Loads `Count` rows of a column, `apart` rows from each other. All loads are issued before the first value is used.
template <int Count, class Vector>
__device__ void load(Floats<Vector> (&v)[Count], const Vector* from, unsigned row, unsigned apart, unsigned rows,
                     int columns, int column) {
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    if (row + i * apart < rows) v[i].vector = from[static_cast<long long>(row + i * apart) * columns + column];
  }
}

// A block computes strips of 4 * blockDim.y adjacent rows. A thread stays in its columns, so it loads b once.
template <class Vector>
__device__ void forward(const Vector* __restrict__ x, const Vector* __restrict__ b, Vector* __restrict__ y,
                        unsigned rows, int columns) {
  constexpr int kRows = 4;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned strip = kRows * blockDim.y;
  if (column >= columns) return;
  Floats<Vector> bias;
  bias.vector = b[column];
  for (unsigned first = blockIdx.y * strip; first < rows; first += gridDim.y * strip) {
    Floats<Vector> v[kRows];
    const unsigned row = first + threadIdx.y;
    load(v, x, row, blockDim.y, rows, columns, column);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      if (row + i * blockDim.y >= rows) break;
#pragma unroll
      for (int k = 0; k < Lanes<Vector>::count; ++k) v[i].each[k] = v[i].each[k] * v[i].each[k] + bias.each[k];
      y[static_cast<long long>(row + i * blockDim.y) * columns + column] = v[i].vector;
    }
  }
}

// Computes dx and db in the same pass, because both need g. A block computes `strip` adjacent rows and writes one row
// of partial sums. If there is only one row of blocks, `sums` is db itself. The order of the additions depends only on
// the shape.
template <class Vector>
__device__ void backward(const Vector* __restrict__ g, const Vector* __restrict__ x, Vector* __restrict__ dx,
                         Vector* __restrict__ sums, unsigned rows, int columns, unsigned strip) {
  constexpr int kRows = 8;
  __shared__ Floats<Vector> shared[256];
  const int column = blockIdx.x * blockDim.x + threadIdx.x, me = threadIdx.y * blockDim.x + threadIdx.x;
  const unsigned last = min(rows, (blockIdx.y + 1) * strip);
  Floats<Vector> sum = {};
  if (column < columns) {
    for (unsigned row = blockIdx.y * strip + threadIdx.y; row < last; row += kRows * blockDim.y) {
      Floats<Vector> gradient[kRows], v[kRows];
      load(v, x, row, blockDim.y, last, columns, column);
      load(gradient, g, row, blockDim.y, last, columns, column);
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        if (row + i * blockDim.y >= last) break;
#pragma unroll
        for (int k = 0; k < Lanes<Vector>::count; ++k) {
          sum.each[k] += gradient[i].each[k];
          v[i].each[k] *= 2 * gradient[i].each[k];
        }
        dx[static_cast<long long>(row + i * blockDim.y) * columns + column] = v[i].vector;
      }
    }
  }
  shared[me] = sum;
  for (int half = blockDim.y / 2; half > 0; half /= 2) {  // blockDim.y is a power of two
    __syncthreads();
    if (threadIdx.y < half) {
#pragma unroll
      for (int k = 0; k < Lanes<Vector>::count; ++k) shared[me].each[k] += shared[me + half * blockDim.x].each[k];
    }
  }
  if (threadIdx.y == 0 && column < columns) sums[blockIdx.y * columns + column] = shared[me].vector;
}

extern "C" __global__ void __launch_bounds__(256)
    forward_1(const float* x, const float* b, float* y, unsigned rows, int columns) {
  forward(x, b, y, rows, columns);
}
extern "C" __global__ void __launch_bounds__(256)
    forward_4(const float4* x, const float4* b, float4* y, unsigned rows, int columns) {
  forward(x, b, y, rows, columns);
}
extern "C" __global__ void __launch_bounds__(256)
    backward_1(const float* g, const float* x, float* dx, float* sums, unsigned rows, int columns, unsigned strip) {
  backward(g, x, dx, sums, rows, columns, strip);
}
extern "C" __global__ void __launch_bounds__(256)
    backward_4(const float4* g, const float4* x, float4* dx, float4* sums, unsigned rows, int columns, unsigned strip) {
  backward(g, x, dx, sums, rows, columns, strip);
}

// Adds up the rows of partial sums. A block of 8 x 128 threads handles 8 columns, whose floats are one 32-byte sector.
extern "C" __global__ void __launch_bounds__(1024) add_rows(const float* sums, float* db, int rows, int columns) {
  __shared__ float shared[128][9];
  const int column = blockIdx.x * 8 + threadIdx.x;
  float sum = 0;
  if (column < columns) {
#pragma unroll 16
    for (int row = threadIdx.y; row < rows; row += 128) sum += sums[static_cast<long long>(row) * columns + column];
  }
  shared[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  const int warp = (threadIdx.y * 8 + threadIdx.x) / 32, lane = (threadIdx.y * 8 + threadIdx.x) % 32;
  if (warp >= 8) return;
  sum = 0;  // each of the first eight warps adds up one column
#pragma unroll
  for (int i = 0; i < 4; ++i) sum += shared[32 * i + lane][warp];
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart);
  if (lane == 0 && blockIdx.x * 8 + warp < columns) db[blockIdx.x * 8 + warp] = sum;
}

// c = a b, with a of m x k and b of k x n: the rung register_2d of 04-22, for any shape. A block of 256 threads
// computes a tile of 128 x 128.
extern "C" __global__ void __launch_bounds__(256)
    multiply(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
  constexpr int kTile = 128, kDepth = 8;
  __shared__ float tile_a[kDepth][kTile + 4], tile_b[kDepth][kTile];
  const int x = threadIdx.x % 16, y = threadIdx.x / 16, left = blockIdx.x * kTile, top = blockIdx.y * kTile;
  float sums[8][8] = {};
  for (int first = 0; first < k; first += kDepth) {
#pragma unroll
    for (int round = 0; round < kTile * kDepth / 256; ++round) {
      const int i = round * 256 + threadIdx.x;
      const int row_a = top + i / kDepth, column_a = first + i % kDepth, row_b = first + i / kTile,
                column_b = left + i % kTile;
      tile_a[i % kDepth][i / kDepth] = row_a < m && column_a < k ? a[static_cast<long long>(row_a) * k + column_a] : 0;
      tile_b[i / kTile][i % kTile] = row_b < k && column_b < n ? b[static_cast<long long>(row_b) * n + column_b] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int depth = 0; depth < kDepth; ++depth) {
      float from_a[8], from_b[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) from_a[i] = tile_a[depth][16 * i + y];
#pragma unroll
      for (int j = 0; j < 8; ++j) from_b[j] = tile_b[depth][16 * j + x];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) sums[i][j] += from_a[i] * from_b[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int row = top + 16 * i + y, column = left + 16 * j + x;
      if (row < m && column < n) c[static_cast<long long>(row) * n + column] = sums[i][j];
    }
  }
}
