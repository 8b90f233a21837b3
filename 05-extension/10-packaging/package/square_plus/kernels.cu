// y = x² + b for float; b has x's size.
extern "C" __global__ void forward(const float* x, const float* b, float* y, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = x[i] * x[i] + b[i];
}
