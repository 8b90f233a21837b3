// Multiply matrices of any shape, by way of tiles in shared memory.

// a has `rows` rows of `inner` numbers, b has `inner` rows of `columns`, c gets `rows` rows of `columns`: c = a × b.
// Launched with blocks of 16 × 16 threads, a block for each tile of 16 × 16 numbers of c; tiles may stick out. Nothing
// is read or written that is not in the matrices. Each number that a block needs is fetched into shared memory once.
extern "C" __global__ void multiply(const float* a, const float* b, float* c, int rows, int inner, int columns) {
  // Your code here.
}
