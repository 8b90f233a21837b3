// Rejected with: "a wide matrix and a tall one"
// The rows of both matrices are taken to be `columns` long, which is only true for a square.
extern "C" __global__ void transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) {
    if (x < columns && y + i < rows) tile[threadIdx.y + i][threadIdx.x] = in[static_cast<size_t>(y + i) * columns + x];
  }
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) {
    const size_t place = static_cast<size_t>(y + i) * columns + x;
    if (x < rows && y + i < columns && place < static_cast<size_t>(rows) * columns)
      out[place] = tile[threadIdx.x][threadIdx.y + i];
  }
}
