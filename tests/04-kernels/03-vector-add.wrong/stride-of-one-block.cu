// Rejected with: "many blocks: every element is computed once"
// The step is one block instead of the whole grid, so elements of the next block are computed twice.
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) y[i] = a * x[i] + y[i];
}
