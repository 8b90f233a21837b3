// Rejected with: "many blocks: every number is computed once"
// The index knows the thread and forgets the block: each block computes every number again.
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = a * x[i] + y[i];
}
