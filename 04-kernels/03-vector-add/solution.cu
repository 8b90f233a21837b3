// Write a kernel that is correct for every grid.

// Computes y[i] = a * x[i] + y[i] for every i from 0 to n - 1, exactly once per element, for any number of blocks and
// threads. Does not access memory past the n elements.
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
    y[i] = a * x[i] + y[i];
  }
}
