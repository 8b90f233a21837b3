// Rejected with: "several blocks: each has its own numbers and its own sum"
// Shared memory is each block's own, but the place in global memory is not: every block adds up the first block's
// numbers.
extern "C" __global__ void block_sums(const int* in, int* sums) {
  extern __shared__ int numbers[];
  numbers[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned i = 0; i < blockDim.x; ++i) sum += numbers[i];
  sums[blockIdx.x] = sum;
}
