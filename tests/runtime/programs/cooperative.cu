// Cooperative groups: a grid, a block, tiles of a warp, coalesced threads.
#include "expect.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

// Every block adds to a total; after the grid's barrier, every block reads it.
static __global__ void whole_grid(int* total, int* seen) {
  const cg::grid_group grid = cg::this_grid();
  atomicAdd(total, 1);
  grid.sync();
  if (threadIdx.x == 0) seen[blockIdx.x] = *total;
}

static __global__ void tiles(int* results) {
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const auto tile = cg::tiled_partition<8>(warp);
  const int rank = static_cast<int>(block.thread_rank());
  const int sum = cg::reduce(tile, rank, cg::plus<int>());
  const int scan = cg::inclusive_scan(warp, 1);
  int odd = 0;
  if (rank % 2 == 1) odd = static_cast<int>(cg::coalesced_threads().size());
  results[3 * rank] = sum;
  results[3 * rank + 1] = scan;
  results[3 * rank + 2] = odd;
}

int main() {
  int *total, *seen, *results;
  EXPECT_SUCCESS(cudaMalloc(&total, sizeof(int)));
  EXPECT_SUCCESS(cudaMemset(total, 0, sizeof(int)));
  EXPECT_SUCCESS(cudaMalloc(&seen, 8 * sizeof(int)));
  EXPECT_SUCCESS(cudaMalloc(&results, 3 * 64 * sizeof(int)));
  void* arguments[] = {&total, &seen};
  EXPECT_SUCCESS(cudaLaunchCooperativeKernel(whole_grid, dim3(8), dim3(64), arguments, 0, nullptr));
  int host_seen[8];
  EXPECT_SUCCESS(cudaMemcpy(host_seen, seen, sizeof host_seen, cudaMemcpyDeviceToHost));
  for (const int number : host_seen) EXPECT(number == 8 * 64);

  tiles<<<1, 64>>>(results);
  int host[3 * 64];
  EXPECT_SUCCESS(cudaMemcpy(host, results, sizeof host, cudaMemcpyDeviceToHost));
  for (int rank = 0; rank < 64; ++rank) {
    const int first = rank / 8 * 8;
    EXPECT(host[3 * rank] == 8 * first + 28);
    EXPECT(host[3 * rank + 1] == rank % 32 + 1);
    EXPECT(host[3 * rank + 2] == (rank % 2 == 1 ? 16 : 0));
  }
  return mistakes();
}
