// Kernels that read and write through whatever address they receive: device memory or mapped host memory.

// Each thread adds up its share of x[0], x[step], x[2 * step], …, and does so `times` times.
template <class Float>
__device__ float sum_of_share(Float* x, int n, int step, int times) {
  const int threads = gridDim.x * blockDim.x, me = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int time = 0; time < times; ++time) {
    for (long long i = static_cast<long long>(me) * step; i < n; i += static_cast<long long>(threads) * step)
      sum += x[i];
  }
  return sum;
}

// Ordinary loads: the L1 cache of the multiprocessor may answer them.
extern "C" __global__ void add_up(const float* x, int n, int step, int times, float* sums) {
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum_of_share(x, n, step, times);
}

// Volatile loads: each one reads memory again.
extern "C" __global__ void add_up_volatile(const volatile float* x, int n, int step, int times, float* sums) {
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum_of_share(x, n, step, times);
}

// x[i] = x[i] * x[i]
extern "C" __global__ void square(float* x, int n) {
  const int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) x[i] = x[i] * x[i];
}
