// Rejected with: "each warp loads its own elements, and no others"
// Nothing is exchanged: one thread loads the elements of all threads, and the others do nothing.
extern "C" __global__ void block_sums(const int* in, int* sums) {
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned i = 0; i < blockDim.x; ++i) sum += in[blockIdx.x * blockDim.x + i];
  sums[blockIdx.x] = sum;
}
