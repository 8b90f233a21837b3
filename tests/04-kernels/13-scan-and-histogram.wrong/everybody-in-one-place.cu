// Rejected with: "the block's bins are in shared memory"
// Right, and slow: the first rung of the ladder.
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, unsigned long long n) {
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += threads) {
    atomicAdd(&bins[in[i]], 1);
  }
}
