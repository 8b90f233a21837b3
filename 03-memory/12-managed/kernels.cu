// x[i] = x[i] + 1
extern "C" __global__ void add_one(int* x, int n) {
  const int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) x[i] = x[i] + 1;
}
