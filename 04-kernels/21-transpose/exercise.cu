// Transpose a matrix of any shape, with coalesced accesses and without bank conflicts.

// `in` has `rows` rows of `columns` floats, and `out` gets `columns` rows of `rows` floats: out[x][y] = in[y][x].
// Launched with blocks of 32 × 8 threads, one for each tile of 32 × 32 elements. The last tiles may extend beyond the
// matrix, but memory outside both matrices must not be accessed. Each element is loaded once and stored once. In full
// tiles, a warp's loads and stores touch as few sectors of global memory as possible, and no access to shared memory
// has bank conflicts.
extern "C" __global__ void transpose(const float* in, float* out, int rows, int columns) {
  // Your code here.
}
