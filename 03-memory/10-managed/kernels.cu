// x[i] = x[i] + 1
extern "C" __global__ void add_one(int* x, int n) {
  const int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) x[i] = x[i] + 1;
}

// Reads all numbers. It writes only if the sum has a value that never occurs, so the compiler cannot drop the loads.
extern "C" __global__ void read_all(int* x, int n) {
  const int threads = gridDim.x * blockDim.x;
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) sum += x[i];
  if (sum == 0x7fffffff) x[0] = sum;
}

// A single thread reads one number every `step` numbers, one after the other.
extern "C" __global__ void touch(int* x, int n, int step) {
  int sum = 0;
  for (long long i = 0; i < n; i += step) sum += *const_cast<volatile int*>(x + i);
  if (sum == 0x7fffffff) x[0] = sum;
}
