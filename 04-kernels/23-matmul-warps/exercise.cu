// Multiply matrices with warp tiles, 128-bit accesses and two buffers.

// c = aᵀ × b. `a` has `inner` rows of `rows` floats, `b` has `inner` rows of `columns` floats, and `c` gets `rows` rows
// of `columns` floats: c[y][x] is the sum of a[k][y] * b[k][x] over all k. Rows and columns are multiples of 128, and
// `inner` is a multiple of 8. Launched with blocks of 256 threads, one for each tile of 128 × 128 elements of c:
// blockIdx.x is the tile's place in its row of tiles, blockIdx.y the row. The matrices are aligned to 16 bytes.
//
// A step multiplies tiles of 8 × 128 elements of a and b. In each step, a block reaches one barrier. All accesses to
// global memory, and all loads from shared memory, are 128 bits wide. They touch as few sectors as possible and have no
// bank conflicts. A thread loads at most 0.25 floats from shared memory for each multiply-add.
extern "C" __global__ void multiply(const float* a, const float* b, float* c, int rows, int columns, int inner) {
  // Your code here.
}
