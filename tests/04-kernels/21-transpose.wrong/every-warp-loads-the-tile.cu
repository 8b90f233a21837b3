// Rejected with: "every element is loaded once and stored once"
// Each of the eight warps loads the whole tile. The results are right; the kernel loads every element eight times.
extern "C" __global__ void transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
  for (int i = 0; i < 32; ++i) {
    if (x < columns && y + i < rows) tile[i][threadIdx.x] = in[static_cast<size_t>(y + i) * columns + x];
  }
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) {
    if (x < rows && y + i < columns) out[static_cast<size_t>(y + i) * rows + x] = tile[threadIdx.x][threadIdx.y + i];
  }
}
