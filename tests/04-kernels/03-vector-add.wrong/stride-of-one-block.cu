// Rejected with: "many blocks: every number is computed once"
// The step is a block where it should be the whole grid: the next block's numbers are computed, too.
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) y[i] = a * x[i] + y[i];
}
