// Multiply matrices of any shape, by way of tiles in shared memory.

// a has `rows` rows of `inner` numbers, b has `inner` rows of `columns`, c gets `rows` rows of `columns`: c = a × b.
// Launched with blocks of 16 × 16 threads, a block for each tile of 16 × 16 numbers of c; tiles may stick out. Nothing
// is read or written that is not in the matrices. Each number that a block needs is fetched into shared memory once.
extern "C" __global__ void multiply(const float* a, const float* b, float* c, int rows, int inner, int columns) {
  __shared__ float tile_a[16][16], tile_b[16][16];
  const int column = threadIdx.x, row = threadIdx.y, x = blockIdx.x * 16 + column, y = blockIdx.y * 16 + row;
  float sum = 0;
  for (int first = 0; first < inner; first += 16) {
    tile_a[row][column] = y < rows && first + column < inner ? a[y * inner + first + column] : 0;
    tile_b[row][column] = first + row < inner && x < columns ? b[(first + row) * columns + x] : 0;
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += tile_a[row][k] * tile_b[k][column];
    __syncthreads();
  }
  if (y < rows && x < columns) c[y * columns + x] = sum;
}
