// Blocks that look into each other's shared memory: a cluster, from compute capability 9.0 on.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Every block puts 100 + its number on its blackboard, and reads its neighbour's in the cluster. Writes down three
// numbers a block: its place in the cluster, the cluster's size, and what it has read.
extern "C" __global__ void neighbours(int* seen) {
  __shared__ int blackboard;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) blackboard = 100 + blockIdx.x;
  cluster.sync();  // all blackboards are written, and all blocks are there

  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  if (threadIdx.x == 0) {
    seen[3 * blockIdx.x] = cluster.block_rank();
    seen[3 * blockIdx.x + 1] = cluster.num_blocks();
    seen[3 * blockIdx.x + 2] = *cluster.map_shared_rank(&blackboard, next);
  }
  cluster.sync();  // nobody leaves, and takes its blackboard along, while it is being read
}
