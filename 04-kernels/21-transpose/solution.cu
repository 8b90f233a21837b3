// Transpose a matrix of any shape, with coalesced accesses and without bank conflicts.

// `in` has `rows` rows of `columns` floats, and `out` gets `columns` rows of `rows` floats: out[x][y] = in[y][x].
// Launched with blocks of 32 × 8 threads, one for each tile of 32 × 32 elements. The last tiles may extend beyond the
// matrix, but memory outside both matrices must not be accessed. Each element is loaded once and stored once. In full
// tiles, a warp's loads and stores touch as few sectors of global memory as possible, and no access to shared memory
// has bank conflicts.
extern "C" __global__ void transpose(const float* __restrict__ in, float* __restrict__ out, int rows, int columns) {
  __shared__ float tile[32][33];  // the additional column moves each row by one bank
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int i = 0; i < 32; i += 8) {
    if (x < columns && y + i < rows) tile[threadIdx.y + i][threadIdx.x] = in[static_cast<size_t>(y + i) * columns + x];
  }
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;  // the tile's position in the output
  y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int i = 0; i < 32; i += 8) {
    if (x < rows && y + i < columns) out[static_cast<size_t>(y + i) * rows + x] = tile[threadIdx.x][threadIdx.y + i];
  }
}
