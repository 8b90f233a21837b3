// Rejected with: "there may be more columns than a block has threads"
// The threads of the first block add up one column each. If there are more columns than threads, some are missing.
extern "C" __global__ void backward_columns(const float* x, const float* g, float* dx, float* db, unsigned columns,
                                            unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) dx[i] = 2 * x[i] * g[i];
  if (blockIdx.x == 0 && threadIdx.x < columns) {
    float sum = 0;
    for (unsigned place = threadIdx.x; place < count; place += columns) sum += g[place];
    db[threadIdx.x] = sum;
  }
}
