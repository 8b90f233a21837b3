// Rejected with: "several blocks: the maximum is found at any position"
// Each block stores its maximum without comparing, so the last one to store wins.
extern "C" __global__ void maximum(const int* in, int* largest, unsigned long long n) {
  __shared__ int of_block;
  if (threadIdx.x == 0) of_block = -2147483647 - 1;
  __syncthreads();
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += threads) {
    atomicMax(&of_block, in[i]);
  }
  __syncthreads();
  if (threadIdx.x == 0 && n > 0) *largest = of_block;
}
