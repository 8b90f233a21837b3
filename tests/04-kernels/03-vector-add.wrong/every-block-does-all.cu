// Rejected with: "many blocks: every element is computed once"
// The index ignores the block, so each block computes every element again.
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = a * x[i] + y[i];
}
