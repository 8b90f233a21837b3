// Transpose any matrix, in rows on both sides.

// in has `rows` rows of `columns` floats, out gets `columns` rows of `rows` floats: out[x][y] = in[y][x]. Launched with
// blocks of 32 × 8 threads, a block for each tile of 32 × 32 numbers; tiles may stick out on two sides. Nothing is read
// or written that is not in the matrices. A warp reads and writes numbers that lie side by side.
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
    if (x < rows && y + i < columns) out[static_cast<size_t>(y + i) * rows + x] = tile[threadIdx.x][threadIdx.y + i];
  }
}
