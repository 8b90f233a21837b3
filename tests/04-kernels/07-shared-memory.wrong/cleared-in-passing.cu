// Rejected with: "the simulator finds no fault in how the kernel runs"
// A warp that arrives early adds to a sum that has not been cleared yet, and its contribution is lost.
extern "C" __global__ void block_sums(const int* in, int* sums) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
