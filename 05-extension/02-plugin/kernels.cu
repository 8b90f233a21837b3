// y = scale * x² + b, forward and backward.

// One thread for each of the `count` elements. b and db have one element for each row.
extern "C" __global__ void forward(const float* x, const float* b, float* y, float scale, unsigned columns,
                                   unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  y[i] = scale * x[i] * x[i] + b[i / columns];
}

// db must be zero at the start.
extern "C" __global__ void backward(const float* x, const float* g, float* dx, float* db, float scale, unsigned columns,
                                    unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  dx[i] = 2 * scale * x[i] * g[i];
  atomicAdd(&db[i / columns], g[i]);  // all threads of a row add to the same number
}

extern "C" __global__ void clear(float* numbers, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) numbers[i] = 0;
}

// ---- For the exercise: y[r][c] = x[r][c] - the mean of row r ----

// sums has one element for each row, and must be zero at the start.
extern "C" __global__ void add_rows(const float* x, float* sums, unsigned columns, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(&sums[i / columns], x[i]);
}

extern "C" __global__ void subtract_means(const float* x, const float* sums, float* y, unsigned columns,
                                          unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = x[i] - sums[i / columns] / static_cast<float>(columns);
}
