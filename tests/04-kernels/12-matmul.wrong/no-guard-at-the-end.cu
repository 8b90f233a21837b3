// Rejected with: "sides of c that are no multiples of a tile"
// What is fetched is guarded. What is stored goes on into the next row.
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
  c[y * columns + x] = sum;
}
