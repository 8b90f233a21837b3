// y = x² + b forward and backward, each in one pass over the memory, and the product of two matrices. x is rows ×
// columns floats, row after row, and b has one float a column.

#define EACH _Pragma("unroll")  // loops whose counts the compiler knows: their variables stay in registers

// Four floats side by side travel in one request of 16 bytes; where addresses or columns are not multiples of that,
// one.
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

// A thread keeps to its columns, so that it fetches b once; the grid goes down the rows in strides of all its blocks.
template <class Vector>
__device__ void forward(const Vector* __restrict__ x, const Vector* __restrict__ b, Vector* __restrict__ y, int rows,
                        int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  Floats<Vector> bias;
  bias.vector = b[column];
#pragma unroll 4
  for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < rows; row += gridDim.y * blockDim.y) {
    const long long at = static_cast<long long>(row) * columns + column;
    Floats<Vector> v;
    v.vector = x[at];
    EACH for (int i = 0; i < Lanes<Vector>::count; ++i) v.each[i] = v.each[i] * v.each[i] + bias.each[i];
    y[at] = v.vector;
  }
}

// dx and db in the same pass: g is on its way through the registers anyway. db gets a row for each row of blocks,
// `sums`; where that is one row it is db itself. The order of adding depends on nothing but the shape.
template <class Vector>
__device__ void backward(const Vector* __restrict__ g, const Vector* __restrict__ x, Vector* __restrict__ dx,
                         Vector* __restrict__ sums, int rows, int columns) {
  __shared__ Floats<Vector> shared[256];
  const int column = blockIdx.x * blockDim.x + threadIdx.x, me = threadIdx.y * blockDim.x + threadIdx.x;
  Floats<Vector> sum = {};
  if (column < columns) {
#pragma unroll 4
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < rows; row += gridDim.y * blockDim.y) {
      const long long at = static_cast<long long>(row) * columns + column;
      Floats<Vector> gradient, v;
      gradient.vector = g[at];
      v.vector = x[at];
      EACH for (int i = 0; i < Lanes<Vector>::count; ++i) {
        sum.each[i] += gradient.each[i];
        v.each[i] *= 2 * gradient.each[i];
      }
      dx[at] = v.vector;
    }
  }
  shared[me] = sum;
  for (int half = blockDim.y / 2; half > 0; half /= 2) {  // blockDim.y is a power of two
    __syncthreads();
    if (threadIdx.y < half) {
      EACH for (int i = 0; i < Lanes<Vector>::count; ++i) shared[me].each[i] += shared[me + half * blockDim.x].each[i];
    }
  }
  if (threadIdx.y == 0 && column < columns) sums[blockIdx.y * columns + column] = shared[me].vector;
}

extern "C" __global__ void __launch_bounds__(256)
    forward_1(const float* x, const float* b, float* y, int rows, int columns) {
  forward(x, b, y, rows, columns);
}
extern "C" __global__ void __launch_bounds__(256)
    forward_4(const float4* x, const float4* b, float4* y, int rows, int columns) {
  forward(x, b, y, rows, columns);
}
extern "C" __global__ void __launch_bounds__(256)
    backward_1(const float* g, const float* x, float* dx, float* sums, int rows, int columns) {
  backward(g, x, dx, sums, rows, columns);
}
extern "C" __global__ void __launch_bounds__(256)
    backward_4(const float4* g, const float4* x, float4* dx, float4* sums, int rows, int columns) {
  backward(g, x, dx, sums, rows, columns);
}

// db from its rows: a block of 32 × 32 threads adds up 32 columns.
extern "C" __global__ void __launch_bounds__(1024) add_rows(const float* sums, float* db, int rows, int columns) {
  __shared__ float shared[32][33];
  const int column = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  if (column < columns) {
    for (int row = threadIdx.y; row < rows; row += 32) sum += sums[row * columns + column];
  }
  shared[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  sum = shared[threadIdx.x][threadIdx.y];  // turned round: a warp has what belongs to one column
  EACH for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart);
  if (threadIdx.x == 0 && blockIdx.x * 32 + threadIdx.y < columns) db[blockIdx.x * 32 + threadIdx.y] = sum;
}

// c = a b, m × k times k × n: the third rung of 04-12, for any shape. A block of 256 threads has a tile of 128 × 128.
extern "C" __global__ void __launch_bounds__(256)
    multiply(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
  constexpr int kTile = 128, kDepth = 8;
  __shared__ float tile_a[kDepth][kTile + 4], tile_b[kDepth][kTile];
  const int x = threadIdx.x % 16, y = threadIdx.x / 16, left = blockIdx.x * kTile, top = blockIdx.y * kTile;
  float sums[8][8] = {};
  for (int first = 0; first < k; first += kDepth) {
    EACH for (int round = 0; round < kTile * kDepth / 256; ++round) {
      const int i = round * 256 + threadIdx.x;
      const int row_a = top + i / kDepth, column_a = first + i % kDepth, row_b = first + i / kTile,
                column_b = left + i % kTile;
      tile_a[i % kDepth][i / kDepth] = row_a < m && column_a < k ? a[static_cast<long long>(row_a) * k + column_a] : 0;
      tile_b[i / kTile][i % kTile] = row_b < k && column_b < n ? b[static_cast<long long>(row_b) * n + column_b] : 0;
    }
    __syncthreads();
    EACH for (int depth = 0; depth < kDepth; ++depth) {
      float from_a[8], from_b[8];
      EACH for (int i = 0; i < 8; ++i) from_a[i] = tile_a[depth][16 * i + y];
      EACH for (int j = 0; j < 8; ++j) from_b[j] = tile_b[depth][16 * j + x];
      EACH for (int i = 0; i < 8; ++i) { EACH for (int j = 0; j < 8; ++j) sums[i][j] += from_a[i] * from_b[j]; }
    }
    __syncthreads();
  }
  EACH for (int i = 0; i < 8; ++i) {
    EACH for (int j = 0; j < 8; ++j) {
      const int row = top + 16 * i + y, column = left + 16 * j + x;
      if (row < m && column < n) c[static_cast<long long>(row) * n + column] = sums[i][j];
    }
  }
}
