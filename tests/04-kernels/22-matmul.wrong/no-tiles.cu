// Rejected with: "a block loads each element from global memory once, and stores each once"
// Right for every shape, but without tiles: each multiply-add loads two elements from global memory.
extern "C" __global__ void multiply(const float* a, const float* b, float* c, int rows, int inner, int columns) {
  const int x = blockIdx.x * 64 + threadIdx.x % 64;
  for (int y = blockIdx.y * 64 + threadIdx.x / 64; y < blockIdx.y * 64 + 64; y += 4) {
    if (x >= columns || y >= rows) return;
    float sum = 0;
    for (int k = 0; k < inner; ++k) sum += a[y * inner + k] * b[k * columns + x];
    c[y * columns + x] = sum;
  }
}
