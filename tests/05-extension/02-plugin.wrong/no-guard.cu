// Rejected with: "nothing past the last element is touched"
// The last block has threads without an element, which must return.
extern "C" __global__ void backward_columns(const float* x, const float* g, float* dx, float* db, unsigned columns,
                                            unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  dx[i] = 2 * x[i] * g[i];
  if (i < count) atomicAdd(&db[i % columns], g[i]);
}
