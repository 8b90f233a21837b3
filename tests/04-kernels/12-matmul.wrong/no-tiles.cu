// Rejected with: "each number is fetched into shared memory"
// Right, for every shape: the first rung of the ladder.
extern "C" __global__ void multiply(const float* a, const float* b, float* c, int rows, int inner, int columns) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= columns || y >= rows) return;
  float sum = 0;
  for (int k = 0; k < inner; ++k) sum += a[y * inner + k] * b[k * columns + x];
  c[y * columns + x] = sum;
}
