// Rejected with: "what is multiplied comes from the tiles"
// The tiles are filled with care, and then the product is computed from global memory, as on the first rung.
extern "C" __global__ void multiply(const float* a, const float* b, float* c, int rows, int inner, int columns) {
  __shared__ float tile_a[16][16], tile_b[16][16];
  const int column = threadIdx.x, row = threadIdx.y, x = blockIdx.x * 16 + column, y = blockIdx.y * 16 + row;
  float sum = 0;
  for (int first = 0; first < inner; first += 16) {
    tile_a[row][column] = y < rows && first + column < inner ? a[y * inner + first + column] : 0;
    tile_b[row][column] = first + row < inner && x < columns ? b[(first + row) * columns + x] : 0;
    __syncthreads();
    for (int k = first; k < first + 16 && k < inner; ++k) {
      if (y < rows && x < columns) sum += a[y * inner + k] * b[k * columns + x];
    }
    __syncthreads();
  }
  if (y < rows && x < columns) c[y * columns + x] = sum;
}
