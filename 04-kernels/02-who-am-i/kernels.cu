// Every thread records its coordinates.

// What one thread records.
struct Thread {
  unsigned block_x, block_y, block_z;     // blockIdx
  unsigned thread_x, thread_y, thread_z;  // threadIdx
  unsigned warp, lane;
};

// Writes one entry per thread, for a grid of any shape: block by block, and within a block x fastest, then y, then z.
extern "C" __global__ void record_thread(Thread* threads) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned block_size = blockDim.x * blockDim.y * blockDim.z;

  unsigned lane;  // CUDA C++ has no variable for the lane, but PTX does
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));

  threads[block * block_size + thread] = {blockIdx.x,  blockIdx.y,  blockIdx.z,        threadIdx.x,
                                          threadIdx.y, threadIdx.z, thread / warpSize, lane};
}
