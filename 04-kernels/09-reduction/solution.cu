// Find the largest of many numbers.

// Sets *largest to the largest of the n numbers, which may all be negative; before, it holds INT_MIN. n may be 0: then
// it stays. Launched with any number of blocks, of any number of threads that is a multiple of 32.
extern "C" __global__ void maximum(const int* in, int* largest, unsigned long long n) {
  __shared__ int of_warp[32];
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  int most = -2147483647 - 1;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += threads) {
    most = max(most, in[i]);
  }
  for (int distance = 16; distance > 0; distance /= 2) most = max(most, __shfl_down_sync(0xffffffff, most, distance));
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = most;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned warp = 1; warp < blockDim.x / 32; ++warp) most = max(most, of_warp[warp]);
  atomicMax(largest, most);
}
