// Rejected with: "fewer threads than elements: all elements are computed"
// There is a guard but no loop, so it only works if the host launches enough threads.
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
