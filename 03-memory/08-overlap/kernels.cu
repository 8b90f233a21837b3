// Work of adjustable length: `rounds` steps for each number.
extern "C" __global__ void work(float* numbers, int n, int rounds) {
  const int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    float x = numbers[i];
    for (int round = 0; round < rounds; ++round) x = fmaf(x, 0.5f, 1.0f);
    numbers[i] = x;
  }
}
