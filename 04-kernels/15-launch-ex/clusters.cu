// Kernels for compute capability 9.0 and later: blocks that access each other's shared memory, and kernels that overlap
// with the previous kernel.
#include <cooperative_groups.h>

#include "bins.hpp"

namespace cg = cooperative_groups;

// Every block stores 100 + its number in its shared memory and reads the value of its neighbor in the cluster. Records
// three numbers per block: its rank in the cluster, the size of the cluster, and the value it has read.
extern "C" __global__ void neighbors(int* seen) {
  __shared__ int value;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) value = 100 + blockIdx.x;
  cluster.sync();  // all blocks have started, and all values are written

  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  if (threadIdx.x == 0) {
    seen[3 * blockIdx.x] = cluster.block_rank();
    seen[3 * blockIdx.x + 1] = cluster.num_blocks();
    seen[3 * blockIdx.x + 2] = *cluster.map_shared_rank(&value, next);
  }
  cluster.sync();  // no block exits while another block reads its shared memory
}

// Counts n values. The bins need 256 KiB, more than a multiprocessor's shared memory, so each block of a cluster holds
// an eighth of them. All bins are 0 before.
extern "C" __global__ void histogram(const unsigned short* values, unsigned* bins, int n) {
  __shared__ unsigned part[kBinsPerBlock];
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < kBinsPerBlock; i += blockDim.x) part[i] = 0;
  cluster.sync();

  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int bin = values[i];
    unsigned* owner = cluster.map_shared_rank(part, bin / kBinsPerBlock);
    atomicAdd(&owner[bin % kBinsPerBlock], 1u);
  }
  cluster.sync();

  unsigned* mine = bins + cluster.block_rank() * kBinsPerBlock;
  for (int i = threadIdx.x; i < kBinsPerBlock; i += blockDim.x) atomicAdd(&mine[i], part[i]);
}

// The same in global memory, for comparison.
extern "C" __global__ void global_histogram(const unsigned short* values, unsigned* bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&bins[values[i]], 1u);
  }
}

// One step of a chain: a prologue that does not depend on the previous kernel, and then an addition that does.
extern "C" __global__ void step(float* values) {
  cudaTriggerProgrammaticLaunchCompletion();  // the next kernel may start its prologue
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {  // 20 microseconds of preparation
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < 20000);
  cudaGridDependencySynchronize();  // the previous kernel has finished, and its writes are visible
  values[threadIdx.x] += 1;
}
