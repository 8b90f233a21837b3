// Rejected with: "sides that are not multiples of a tile"
// The second guard is a copy of the first. It checks the position in the input, not in the output.
extern "C" __global__ void transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) {
    if (x < columns && y + i < rows) tile[threadIdx.y + i][threadIdx.x] = in[static_cast<size_t>(y + i) * columns + x];
  }
  __syncthreads();
  const int to_x = blockIdx.y * 32 + threadIdx.x, to_y = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) {
    const size_t place = static_cast<size_t>(to_y + i) * rows + to_x;
    if (x < columns && y + i < rows && place < static_cast<size_t>(rows) * columns)
      out[place] = tile[threadIdx.x][threadIdx.y + i];
  }
}
