// Three ways to add two vectors: with a guard, without it, and with a loop.

// One thread a number; the last block has threads too many, and the guard sends them home.
extern "C" __global__ void add(const float* a, const float* b, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}

// Nobody is sent home.
extern "C" __global__ void add_unguarded(const float* a, const float* b, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  sum[i] = a[i] + b[i];
}

// Each thread goes on with the number that lies one whole grid further: right for any grid, the loop is the guard.
extern "C" __global__ void add_grid_stride(const float* a, const float* b, float* sum, int n) {
  const int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) sum[i] = a[i] + b[i];
}
