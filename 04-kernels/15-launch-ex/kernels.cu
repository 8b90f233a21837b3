// Two passes over the same numbers in one kernel, with a barrier of the whole grid between them.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Divides all n numbers by their sum. *sum is 0 before. Requires a cooperative launch, in which all blocks run at the
// same time.
extern "C" __global__ void normalize(float* numbers, float* sum, int n) {
  const cg::grid_group grid = cg::this_grid();
  float mine = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.num_threads()) mine += numbers[i];
  for (int distance = 16; distance > 0; distance /= 2) mine += __shfl_down_sync(0xffffffff, mine, distance);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);

  grid.sync();  // no thread divides before all threads have added

  const float all = *sum;
  for (int i = grid.thread_rank(); i < n; i += grid.num_threads()) numbers[i] /= all;
}

// The same work as two kernels, for comparison.
extern "C" __global__ void add_up(const float* numbers, float* sum, int n) {
  float mine = 0;
  for (int i = cg::this_grid().thread_rank(); i < n; i += cg::this_grid().num_threads()) mine += numbers[i];
  for (int distance = 16; distance > 0; distance /= 2) mine += __shfl_down_sync(0xffffffff, mine, distance);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}
extern "C" __global__ void divide(float* numbers, const float* sum, int n) {
  const float all = *sum;
  for (int i = cg::this_grid().thread_rank(); i < n; i += cg::this_grid().num_threads()) numbers[i] /= all;
}
