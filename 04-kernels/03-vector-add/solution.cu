// Write a kernel that is right for every grid.

// y[i] = a * x[i] + y[i] for every i from 0 to n - 1, each once, whatever number of blocks and threads there are.
// What lies past the n numbers is not touched.
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  const int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) y[i] = a * x[i] + y[i];
}
