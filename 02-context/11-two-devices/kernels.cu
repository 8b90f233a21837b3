// Adds up numbers, wherever they lie.
extern "C" __global__ void add_up(const unsigned* numbers, int n, unsigned* sum) {
  unsigned mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += numbers[i];
  atomicAdd(sum, mine);
}
