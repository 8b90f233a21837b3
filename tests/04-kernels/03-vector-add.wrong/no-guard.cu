// Rejected with: "more threads than elements: memory past the last element is unchanged"
// 1000 is not a multiple of 256, and the last 24 threads write past the end.
extern "C" __global__ void saxpy(int, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = a * x[i] + y[i];
}
