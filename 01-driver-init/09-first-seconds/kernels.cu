// The pattern of 200 kernels, which differ in their name and in the number 1234567. See service.hpp.

// Approximates the square root of 1234567 · x with eight steps of Newton's method.
extern "C" __global__ void op(float* x) {
  const float square = x[threadIdx.x] * 1234567.0f;
  float root = square;
#pragma unroll
  for (int step = 0; step < 8; ++step) root = 0.5f * (root + square / root);
  x[threadIdx.x] = root;
}
