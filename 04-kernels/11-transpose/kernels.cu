// Four ways to transpose a square matrix of n × n floats, n a multiple of 64: out[x][y] = in[y][x]. Each is the one
// before with one thing changed.

constexpr int kTile = 32;  // numbers on a side
constexpr int kRows = 8;   // rows of threads in a block of 32 × 8: each thread moves every eighth row

// 1: every thread moves its numbers. A warp reads a row, 128 bytes side by side, and writes a column, 32 times 4 bytes.
extern "C" __global__ void naive(const float* in, float* out, int n) {
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kRows)
    out[static_cast<size_t>(x) * n + y + i] = in[static_cast<size_t>(y + i) * n + x];
}

// 2: by way of shared memory. A warp reads a row of the tile and writes a row; the turning is done in between.
extern "C" __global__ void tiled(const float* in, float* out, int n) {
  __shared__ float tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kRows) tile[threadIdx.y + i][threadIdx.x] = in[static_cast<size_t>(y + i) * n + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;  // the tile's place in the other matrix
  y = blockIdx.x * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kRows) out[static_cast<size_t>(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}

// 3: a column that nobody uses. The 32 numbers of a column now lie in 32 different banks.
extern "C" __global__ void padded(const float* in, float* out, int n) {
  __shared__ float tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kRows) tile[threadIdx.y + i][threadIdx.x] = in[static_cast<size_t>(y + i) * n + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kRows) out[static_cast<size_t>(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}

// 4: four numbers at a time, four times, in tiles of 64 × 64: sixteen bytes a request, and four requests on their way.
// A padded row would not begin at a multiple of sixteen bytes; the fours of a row are exchanged instead, in another way
// in every fourth row, so that a column still goes through all the banks.
extern "C" __global__ void __launch_bounds__(256) vectors(const float* in, float* out, int n) {
  constexpr int kFours = 16;  // in a row of the tile
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

  // A warp writes four rows of eight fours: 128 bytes side by side in each.
  float* to = out + static_cast<size_t>(blockIdx.x) * 64 * n + blockIdx.y * 64;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int four = (warp + 8 * i) % 2 * 8 + lane % 8;    // in the row that is written
    const int column = (warp + 8 * i) / 2 * 4 + lane / 8;  // of the tile; that row
    float numbers[4];
    for (int k = 0; k < 4; ++k) {
      const int row = 4 * four + k;
      numbers[k] = reinterpret_cast<const float*>(&tile[row][column / 4 ^ (row / 4 & 7)])[column % 4];
    }
    *reinterpret_cast<float4*>(to + static_cast<size_t>(column) * n + 4 * four) =
        make_float4(numbers[0], numbers[1], numbers[2], numbers[3]);
  }
}
