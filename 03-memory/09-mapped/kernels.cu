// Kernels that do not care where their numbers lie: an address is an address.

// Each thread adds up its share of x[0], x[step], x[2 * step] …, `times` times over. volatile: each visit is to be a
// read of memory, not of a register.
extern "C" __global__ void visit(const volatile float* x, int n, int step, int times, float* sums) {
  const int threads = gridDim.x * blockDim.x, me = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int time = 0; time < times; ++time) {
    for (long long i = static_cast<long long>(me) * step; i < n; i += static_cast<long long>(threads) * step)
      sum += x[i];
  }
  sums[me] = sum;
}

// x[i] = x[i] * x[i]
extern "C" __global__ void square(float* x, int n) {
  const int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) x[i] = x[i] * x[i];
}
