// Adds the numbers of one array to those of another.
extern "C" __global__ void add(unsigned* to, const unsigned* from, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += from[i];
}
