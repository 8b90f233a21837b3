// Multiply matrices of any shape, with a register tile.

// `a` has `rows` rows of `inner` floats, `b` has `inner` rows of `columns` floats, and `c` gets `rows` rows of
// `columns` floats: c = a × b. Launched with blocks of 256 threads, one for each tile of 64 × 64 elements of c:
// blockIdx.x is the tile's place in its row of tiles, blockIdx.y the row. The last tiles may extend beyond c, but
// memory outside the matrices must not be accessed. A block loads each element of a and b that it needs once from
// global memory, and a thread loads at most 0.5 floats from shared memory for each multiply-add. In full tiles, a
// warp's loads and stores touch as few sectors of global memory as possible, and no access to shared memory has bank
// conflicts.
extern "C" __global__ void multiply(const float* a, const float* b, float* c, int rows, int inner, int columns) {
  // Your code here.
}
