// Squares `count` integers, one per thread. The last block has more threads than integers left; those threads do
// nothing.
extern "C" __global__ void square(int* numbers, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) numbers[i] *= numbers[i];
}
