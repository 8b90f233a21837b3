// Three kernels. The first has a bug, and the second is given a wrong index.
#include <cassert>

// Sets `count` values. The comparison lets one thread too many through.
extern "C" __global__ void fill(float* values, unsigned count, float value) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= count) values[i] = value;
}

// y[i] = table[index[i]]
extern "C" __global__ void gather(const float* table, unsigned rows, const unsigned* index, float* y, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  assert(index[i] < rows);
  y[i] = table[index[i]];
}

extern "C" __global__ void twice(const float* x, float* y, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = 2 * x[i];
}
