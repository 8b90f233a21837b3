// Rejected with: "a block whose size is not a power of two"
// In each round, the upper half is added to the lower one: 96, 48, 24, 12, 6, 3. Half of three is one, so one element
// is left over.
extern "C" __global__ void block_sums(const int* in, int* sums) {
  extern __shared__ int numbers[];
  numbers[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) numbers[threadIdx.x] += numbers[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = numbers[0];
}
