// Count how often each byte value occurs, with bins in shared memory.

// Adds to bins[0 … 255] how often each value occurs among the n bytes. Launched with any number of blocks of any number
// of threads up to 1024. Every block counts in bins of its own, in shared memory, and adds them to the common ones in
// the end.
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, unsigned long long n) {
  __shared__ unsigned own[256];
  for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) own[bin] = 0;
  __syncthreads();
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += threads) {
    atomicAdd(&own[in[i]], 1);
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) atomicAdd(&bins[bin], own[bin]);
}
