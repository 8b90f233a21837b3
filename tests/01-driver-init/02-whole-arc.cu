// The kernel with which the check tests add_on_gpu().
extern "C" __global__ void add(int* a, const int* b, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) a[i] += b[i];
}
