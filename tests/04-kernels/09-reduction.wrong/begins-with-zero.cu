// Rejected with: "one warp: the largest is found wherever it lies"
// 0 is a fine beginning for a sum. Here all numbers are below it.
extern "C" __global__ void maximum(const int* in, int* largest, unsigned long long n) {
  int most = 0;
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += threads) {
    most = max(most, in[i]);
  }
  atomicMax(largest, most);
}
