// Three ways to add two vectors: with a guard, without one, and with a grid-stride loop.

// One thread per element. The last block has more threads than elements left; the guard excludes them.
extern "C" __global__ void add(const float* a, const float* b, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}

// The same without the guard.
extern "C" __global__ void add_unguarded(const float* a, const float* b, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  sum[i] = a[i] + b[i];
}

// Each thread continues with the element that is one whole grid further. Correct for any grid: the index and the step
// are 64 bits wide, because a grid can have more than 2³¹ threads.
extern "C" __global__ void add_grid_stride(const float* a, const float* b, float* sum, long long n) {
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
    sum[i] = a[i] + b[i];
  }
}
