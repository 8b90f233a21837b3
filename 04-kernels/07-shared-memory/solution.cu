// Let the threads of a block add up their numbers.

// Each thread fetches one number, in[global index], and no other's. The sum of each block's numbers goes to
// sums[blockIdx.x]. A block has any number of threads from 1 to 1024, and is launched with blockDim.x * sizeof(int)
// bytes of dynamic shared memory.
extern "C" __global__ void block_sums(const int* in, int* sums) {
  extern __shared__ int numbers[];
  numbers[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned i = 0; i < blockDim.x; ++i) sum += numbers[i];
  sums[blockIdx.x] = sum;
}
