// Rejected with: "a barrier is reached by all threads of the block, a shuffle by all lanes of its mask"
// The barrier is inside the `if`, so only the threads that add reach it. The sums may still be right.
extern "C" __global__ void block_sums(const int* in, int* sums) {
  extern __shared__ int numbers[];
  numbers[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (unsigned left = blockDim.x; left > 1;) {
    const unsigned half = (left + 1) / 2;
    if (threadIdx.x < half) {
      if (threadIdx.x + half < left) numbers[threadIdx.x] += numbers[threadIdx.x + half];
      __syncthreads();
    }
    left = half;
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = numbers[0];
}
