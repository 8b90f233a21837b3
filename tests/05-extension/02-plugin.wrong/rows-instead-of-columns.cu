// Rejected with: "db is the sum of g over each column"
// i / columns is the row, so the sums of rows are added to a db with one element for each column.
extern "C" __global__ void backward_columns(const float* x, const float* g, float* dx, float* db, unsigned columns,
                                            unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  dx[i] = 2 * x[i] * g[i];
  atomicAdd(&db[i / columns], g[i]);
}
