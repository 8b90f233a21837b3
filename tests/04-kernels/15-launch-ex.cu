// The kernels with which launch_all() and launch_clusters() are tested.
#include <cooperative_groups.h>

// Every block counts itself. After the barrier, each checks whether all blocks have been counted. counts[0]: blocks
// that ran; [1]: blocks that saw all others; [2]: threads per block; [3]: bytes of dynamic shared memory.
extern "C" __global__ void count_blocks(unsigned* counts) {
  const auto grid = cooperative_groups::this_grid();
  unsigned bytes;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  if (threadIdx.x == 0) atomicAdd(&counts[0], 1);
  grid.sync();
  if (threadIdx.x == 0 && *static_cast<volatile unsigned*>(counts) == gridDim.x) atomicAdd(&counts[1], 1);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    counts[2] = blockDim.x;
    counts[3] = bytes;
  }
}

// Counts the blocks that run.
extern "C" __global__ void count_only(unsigned* count) {
  if (threadIdx.x == 0) atomicAdd(count, 1);
}
