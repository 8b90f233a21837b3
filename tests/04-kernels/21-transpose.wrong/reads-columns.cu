// Rejected with: "a warp's loads and stores touch no more sectors of global memory than needed"
// Each thread loads the element that it will store itself, so the tile has no effect.
extern "C" __global__ void transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[32][33];
  const int x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) {
    if (x < rows && y + i < columns) tile[threadIdx.x][threadIdx.y + i] = in[static_cast<size_t>(x) * columns + y + i];
  }
  __syncthreads();
  for (int i = 0; i < 32; i += 8) {
    if (x < rows && y + i < columns) out[static_cast<size_t>(y + i) * rows + x] = tile[threadIdx.x][threadIdx.y + i];
  }
}
