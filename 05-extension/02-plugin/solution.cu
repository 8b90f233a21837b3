// Write the backward pass for another broadcast: y[r][c] = x[r][c]² + b[c], one b a column, as the bias of a layer is.

// One thread for each of the `count` elements, at least. db has `columns` elements and is zero at the start.
extern "C" __global__ void backward_columns(const float* x, const float* g, float* dx, float* db, unsigned columns,
                                            unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  dx[i] = 2 * x[i] * g[i];
  atomicAdd(&db[i % columns], g[i]);
}
