// Rejected with: "the simulator finds no fault in how the kernel runs"
// The block's bins are updated atomically, but two blocks may also add to the global bins at the same time.
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, unsigned long long n) {
  __shared__ unsigned own[256];
  for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) own[bin] = 0;
  __syncthreads();
  const unsigned long long threads = 1ull * gridDim.x * blockDim.x;
  for (unsigned long long i = 1ull * blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    atomicAdd(&own[in[i]], 1u);
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) bins[bin] += own[bin];
}
