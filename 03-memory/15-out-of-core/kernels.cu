// Adds up the numbers of a piece. `rounds` steps for each number make the kernel as slow as wanted.
extern "C" __global__ void add_up(const unsigned* numbers, int n, int rounds, unsigned long long* sum) {
  unsigned long long mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float x = static_cast<float>(numbers[i]);
    for (int round = 0; round < rounds; ++round) x = fmaf(x, 0.5f, 1.0f);
    mine += x < 0 ? 0 : numbers[i];  // x is never negative, but the compiler does not know that
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) mine += __shfl_down_sync(~0u, mine, lanes);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}
