// Rejected with: "each warp fetches its own numbers, and no others"
// Nobody hands anything over: one thread reads the numbers of all, and the others have come for nothing.
extern "C" __global__ void block_sums(const int* in, int* sums) {
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned i = 0; i < blockDim.x; ++i) sum += in[blockIdx.x * blockDim.x + i];
  sums[blockIdx.x] = sum;
}
