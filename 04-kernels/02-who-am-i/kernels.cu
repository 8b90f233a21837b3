// Every thread writes down who it is.

// What one thread knows of itself.
struct Thread {
  unsigned block_x, block_y, block_z;     // blockIdx
  unsigned thread_x, thread_y, thread_z;  // threadIdx
  unsigned warp, lane;
};

// One entry a thread, for a grid of any shape: block after block, and in a block x fastest, then y, then z.
extern "C" __global__ void who_am_i(Thread* threads) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned block_size = blockDim.x * blockDim.y * blockDim.z;

  unsigned lane;  // CUDA C++ has no variable for it, PTX has
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));

  threads[block * block_size + thread] = {blockIdx.x,  blockIdx.y,  blockIdx.z,        threadIdx.x,
                                          threadIdx.y, threadIdx.z, thread / warpSize, lane};
}
