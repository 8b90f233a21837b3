// Transpose any matrix, in rows on both sides.

// in has `rows` rows of `columns` floats, out gets `columns` rows of `rows` floats: out[x][y] = in[y][x]. Launched with
// blocks of 32 × 8 threads, a block for each tile of 32 × 32 numbers; tiles may stick out on two sides. Nothing is read
// or written that is not in the matrices. A warp reads and writes numbers that lie side by side.
extern "C" __global__ void transpose(const float* in, float* out, int rows, int columns) {
  // Your code here.
}
