// Kernels that read and write through whatever address they receive: device memory or mapped host memory.

// Each thread adds up its share of the numbers 0, step, 2 * step, …, and does so `times` times.
template <class Load>
__device__ float sum_of_share(Load load, int n, int step, int times) {
  const int threads = gridDim.x * blockDim.x, me = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int time = 0; time < times; ++time) {
    for (long long i = static_cast<long long>(me) * step; i < n; i += static_cast<long long>(threads) * step)
      sum += load(i);
  }
  return sum;
}

// Ordinary loads, which may find their data in the L1 cache of the multiprocessor.
extern "C" __global__ void add_up(const float* x, int n, int step, int times, float* sums) {
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum_of_share([=](long long i) { return x[i]; }, n, step, times);
}

// Loads that bypass the L1 cache, and may find their data in the L2 cache.
extern "C" __global__ void add_up_cg(const float* x, int n, int step, int times, float* sums) {
  sums[blockIdx.x * blockDim.x + threadIdx.x] =
      sum_of_share([=](long long i) { return __ldcg(x + i); }, n, step, times);
}

// Volatile loads: each one reads memory again.
extern "C" __global__ void add_up_volatile(const volatile float* x, int n, int step, int times, float* sums) {
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum_of_share([=](long long i) { return x[i]; }, n, step, times);
}

// x[i] = x[i] * x[i]
extern "C" __global__ void square(float* x, int n) {
  const int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) x[i] = x[i] * x[i];
}
