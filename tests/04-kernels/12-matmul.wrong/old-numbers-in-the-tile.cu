// Rejected with: "an inner side that is no multiple of a tile"
// What is not in the matrix is not fetched. In the tile, the number of the round before stays, and is multiplied once
// more.
extern "C" __global__ void multiply(const float* a, const float* b, float* c, int rows, int inner, int columns) {
  __shared__ float tile_a[16][16], tile_b[16][16];
  const int column = threadIdx.x, row = threadIdx.y, x = blockIdx.x * 16 + column, y = blockIdx.y * 16 + row;
  float sum = 0;
  tile_a[row][column] = tile_b[row][column] = 0;
  for (int first = 0; first < inner; first += 16) {
    if (y < rows && first + column < inner) tile_a[row][column] = a[y * inner + first + column];
    if (first + row < inner && x < columns) tile_b[row][column] = b[(first + row) * columns + x];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += tile_a[row][k] * tile_b[k][column];
    __syncthreads();
  }
  if (y < rows && x < columns) c[y * columns + x] = sum;
}
