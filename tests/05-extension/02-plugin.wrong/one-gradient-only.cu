// Rejected with: "db is the sum of g over each column"
// Computes only the gradient of x, so b would never be trained.
extern "C" __global__ void backward_columns(const float* x, const float* g, float* dx, float* db, unsigned columns,
                                            unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  dx[i] = 2 * x[i] * g[i];
}
