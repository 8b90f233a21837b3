// Rejected with: "a square of several tiles"
// Every tile is transposed, but stays where it was: its position has to be transposed too.
extern "C" __global__ void transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) {
    if (x < columns && y + i < rows) tile[threadIdx.y + i][threadIdx.x] = in[static_cast<size_t>(y + i) * columns + x];
  }
  __syncthreads();
  for (int i = 0; i < 32; i += 8) {
    if (x < rows && y + i < columns) out[static_cast<size_t>(y + i) * rows + x] = tile[threadIdx.x][threadIdx.y + i];
  }
}
