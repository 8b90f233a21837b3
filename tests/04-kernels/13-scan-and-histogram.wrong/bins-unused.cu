// Rejected with: "a block adds to a common bin once, however many bytes there are"
// The block's bins are there and cleared; what is counted goes into the common ones, each byte.
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, unsigned long long n) {
  __shared__ unsigned own[256];
  for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) own[bin] = 0;
  __syncthreads();
  const unsigned long long threads = 1ull * gridDim.x * blockDim.x;
  for (unsigned long long i = 1ull * blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    atomicAdd(&bins[in[i]], 1u);
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) atomicAdd(&bins[bin], own[bin]);
}
