// Rejected with: "a warp's loads and stores touch no more sectors of global memory than needed"
// Right for every matrix, but each store of a warp touches 32 sectors.
extern "C" __global__ void transpose(const float* in, float* out, int rows, int columns) {
  const int x = blockIdx.x * 32 + threadIdx.x;
  for (int y = blockIdx.y * 32 + threadIdx.y; y < blockIdx.y * 32 + 32; y += 8) {
    if (x < columns && y < rows) out[static_cast<size_t>(x) * rows + y] = in[static_cast<size_t>(y) * columns + x];
  }
}
