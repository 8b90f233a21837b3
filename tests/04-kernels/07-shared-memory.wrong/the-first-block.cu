// Rejected with: "several blocks: each has its own elements and its own sum"
// Each block has its own shared memory, but the index into global memory ignores the block: every block adds the
// numbers of the first one.
extern "C" __global__ void block_sums(const int* in, int* sums) {
  extern __shared__ int numbers[];
  numbers[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned i = 0; i < blockDim.x; ++i) sum += numbers[i];
  sums[blockIdx.x] = sum;
}
