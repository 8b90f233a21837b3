// Rejected with: "a warp's loads and stores touch no more sectors of global memory than needed"
// The tile is written and read in the same way: each thread stores the element that it has loaded.
extern "C" __global__ void transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) {
    if (x < columns && y + i < rows) tile[threadIdx.y + i][threadIdx.x] = in[static_cast<size_t>(y + i) * columns + x];
  }
  __syncthreads();
  for (int i = 0; i < 32; i += 8) {
    if (x < columns && y + i < rows) out[static_cast<size_t>(x) * rows + y + i] = tile[threadIdx.y + i][threadIdx.x];
  }
}
