// Rejected with: "many blocks of 1024 threads"
// The first thread adds elements that the others have not written yet.
extern "C" __global__ void block_sums(const int* in, int* sums) {
  extern __shared__ int numbers[];
  numbers[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (int i = blockDim.x - 1; i >= 0; --i) sum += numbers[i];
  sums[blockIdx.x] = sum;
}
