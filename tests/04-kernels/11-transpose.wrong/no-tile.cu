// Rejected with: "a tile goes through shared memory"
// Right, for every matrix. Every write of a warp goes to 32 different lines.
extern "C" __global__ void transpose(const float* in, float* out, int rows, int columns) {
  const int x = blockIdx.x * 32 + threadIdx.x;
  for (int y = blockIdx.y * 32 + threadIdx.y; y < blockIdx.y * 32 + 32; y += 8) {
    if (x < columns && y < rows) out[static_cast<size_t>(x) * rows + y] = in[static_cast<size_t>(y) * columns + x];
  }
}
