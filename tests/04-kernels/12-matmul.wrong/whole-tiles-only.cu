// Rejected with: "an inner side that is no multiple of a tile"
// The loop makes as many rounds as there are whole tiles. What is left over is left out.
extern "C" __global__ void multiply(const float* a, const float* b, float* c, int rows, int inner, int columns) {
  __shared__ float tile_a[16][16], tile_b[16][16];
  const int column = threadIdx.x, row = threadIdx.y, x = blockIdx.x * 16 + column, y = blockIdx.y * 16 + row;
  float sum = 0;
  for (int first = 0; first + 16 <= inner; first += 16) {
    tile_a[row][column] = y < rows ? a[y * inner + first + column] : 0;
    tile_b[row][column] = x < columns ? b[(first + row) * columns + x] : 0;
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += tile_a[row][k] * tile_b[k][column];
    __syncthreads();
  }
  if (y < rows && x < columns) c[y * columns + x] = sum;
}
