// Rejected with: "a block of 256 threads"
// The warp adds its elements without shared memory, but a block has more than one warp.
extern "C" __global__ void block_sums(const int* in, int* sums) {
  int sum = in[blockIdx.x * blockDim.x + threadIdx.x];
  const unsigned lanes = __activemask();
  for (int distance = 16; distance > 0; distance /= 2) {
    const int other = __shfl_down_sync(lanes, sum, distance);
    if (threadIdx.x % 32 + distance < blockDim.x) sum += other;
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
