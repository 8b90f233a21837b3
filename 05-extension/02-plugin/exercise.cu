// Write the backward pass for another broadcast: y[r][c] = x[r][c]² + b[c], with one b for each column, like a bias.

// There are at least `count` threads, one for each element. db has `columns` elements and is zero at the start.
extern "C" __global__ void backward_columns(const float* x, const float* g, float* dx, float* db, unsigned columns,
                                            unsigned count) {
  // Your code here.
}
