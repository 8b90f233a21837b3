// Compute the sum over the threads of a block.

// Each thread loads one integer, in[global index], and no other. The sum of each block's integers is stored in
// sums[blockIdx.x]. A block can have any number of threads from 1 to 1024 and is launched with blockDim.x * sizeof(int)
// bytes of dynamic shared memory.
extern "C" __global__ void block_sums(const int* in, int* sums) {
  // Your code here.
}
