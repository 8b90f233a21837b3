// Sums numbers. They can be in the memory of any device that this one can access.
extern "C" __global__ void sum(const unsigned* numbers, int n, unsigned* result) {
  unsigned mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += numbers[i];
  atomicAdd(result, mine);
}
