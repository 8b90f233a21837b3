// The kernels of lesson 04-21 as they were when an H200 counted them: four ways to transpose a square matrix of n × n
// floats, n a multiple of 64.

constexpr int kTile = 32;  // elements on a side
constexpr int kRows = 8;   // rows of threads in a block of 32 × 8: each thread copies every eighth row

// 1: a warp loads a row, which is contiguous, and stores a column.
extern "C" __global__ void naive(const float* in, float* out, int n) {
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kRows)
    out[static_cast<size_t>(x) * n + y + i] = in[static_cast<size_t>(y + i) * n + x];
}

// 2: through a tile in shared memory, a warp loads a row and stores a row.
extern "C" __global__ void tiled(const float* in, float* out, int n) {
  __shared__ float tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kRows) tile[threadIdx.y + i][threadIdx.x] = in[static_cast<size_t>(y + i) * n + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;  // the tile's position in the output
  y = blockIdx.x * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kRows) out[static_cast<size_t>(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}

// 3: with an additional column, the elements of a column are in 32 different banks.
extern "C" __global__ void padded(const float* in, float* out, int n) {
  __shared__ float tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kRows) tile[threadIdx.y + i][threadIdx.x] = in[static_cast<size_t>(y + i) * n + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kRows) out[static_cast<size_t>(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}

// 4: 128-bit loads and stores, four per thread, and tiles of 64 × 64. The vectors of a row are permuted, in a different
// way in every fourth row, so that the elements of a column are in different banks.
extern "C" __global__ void __launch_bounds__(256) vectors(const float* in, float* out, int n) {
  constexpr int kFours = 16;  // vectors in a row of the tile
  __shared__ float4 tile[64][kFours];
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, warp = thread / 32, lane = thread % 32;

  const float4* from = reinterpret_cast<const float4*>(in + static_cast<size_t>(blockIdx.y) * 64 * n + blockIdx.x * 64);
  float4 fours[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    fours[i] = from[static_cast<size_t>(thread / kFours + 16 * i) * (n / 4) + thread % kFours];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = thread / kFours + 16 * i;
    tile[row][thread % kFours ^ (row / 4 & 7)] = fours[i];
  }
  __syncthreads();

  // A warp stores 128 contiguous bytes of each of four rows.
  float* to = out + static_cast<size_t>(blockIdx.x) * 64 * n + blockIdx.y * 64;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int four = (warp + 8 * i) % 2 * 8 + lane % 8;    // vector in the row that is stored
    const int column = (warp + 8 * i) / 2 * 4 + lane / 8;  // of the tile, which is that row
    float numbers[4];
    for (int k = 0; k < 4; ++k) {
      const int row = 4 * four + k;
      numbers[k] = reinterpret_cast<const float*>(&tile[row][column / 4 ^ (row / 4 & 7)])[column % 4];
    }
    *reinterpret_cast<float4*>(to + static_cast<size_t>(column) * n + 4 * four) =
        make_float4(numbers[0], numbers[1], numbers[2], numbers[3]);
  }
}
