// The kernel with which launch_all() is tested.
#include <cooperative_groups.h>

// Every block says that it has come; after the barrier, each looks whether all have. counts[0]: blocks that came; [1]:
// blocks that found all the others there; [2]: threads of a block; [3]: bytes of dynamic shared memory.
extern "C" __global__ void meet(unsigned* counts) {
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
