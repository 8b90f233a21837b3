// A product whose boxes the TMA loads ahead: the stages of a pipeline in shared memory, one warpgroup that fills them,
// and others that use them. Included by kernels that differ in what they do with the boxes.
#pragma once
#include "04-kernels/raster.hpp"
#include "shape.hpp"

#include <cstdint>

// The stages of a pipeline. full[s]: the boxes of stage s have been loaded. empty[s]: all consumers have read them.
template <class Shape>
struct Pipeline {
  unsigned char* stages;
  std::uint64_t *full, *empty;

  // The first box of a and of b; `deep` of several that are side by side.
  __device__ Box* a(int stage, int deep = 0) const {
    return reinterpret_cast<Box*>(stages + stage * kStageBytes<Shape> + deep * kDepthBytes<Shape>);
  }
  __device__ Box* b(int stage, int deep = 0) const { return a(stage, deep) + Shape::kConsumers; }
};

// The first row and column of a tile, in elements of c.
struct Corner {
  int row, column;
};

// The number of tiles, or of pairs of tiles if two blocks form a cluster, and where number `tile` begins. The tiles of
// a cluster are below each other, so that they need the same boxes of b.
template <class Shape>
__device__ int tiles(const Product& p) {
  return p.rows / (kTileRows<Shape> * Shape::kCluster) * (p.columns / Shape::kColumns);
}
template <class Shape>
__device__ Corner corner(const Product& p, int tile, int rank) {
  const Tile at = place(tile, p.rows / (kTileRows<Shape> * Shape::kCluster), p.columns / Shape::kColumns, p.band);
  return {(at.row * Shape::kCluster + rank) * kTileRows<Shape>, at.column * Shape::kColumns};
}

// Issues the loads of one step. In a cluster, each block loads its own boxes of a and a part of the boxes of b, which
// the TMA writes to the shared memory of every block.
template <class Shape>
__device__ void load_step(const Product& p, const Pipeline<Shape>& pipeline, int stage, Corner at, int k, int rank) {
  std::uint64_t& full = pipeline.full[stage];
  hopper::mbarrier_arrive_expect_tx(full, kStageBytes<Shape>);
#pragma unroll
  for (int deep = 0; deep < Shape::kDeep; ++deep, k += kBox) {
    Box *const a = pipeline.a(stage, deep), *const b = pipeline.b(stage, deep);
#pragma unroll
    for (int i = 0; i < Shape::kConsumers; ++i) hopper::tma_load(a[i], p.map_a, k, at.row + i * kBox, full);
    constexpr int kBoxes = (Shape::kColumns + kBox - 1) / kBox, kMine = kBoxes / Shape::kCluster;
#pragma unroll
    for (int i = rank * kMine; i < (rank + 1) * kMine; ++i) {
      const int column = at.column + i * kBox, x = Shape::kTransposed ? k : column, y = Shape::kTransposed ? column : k;
      if constexpr (Shape::kCluster == 1) {
        hopper::tma_load(b[i], p.map_b, x, y, full);
      } else {
        constexpr std::uint16_t kAll = (1 << Shape::kCluster) - 1;
        hopper::tma_load_multicast(b[i], p.map_b, x, y, full, kAll);
      }
    }
  }
}

// In a control run, nothing is loaded after the first stages, but the barriers work as before.
template <class Shape>
__device__ bool left_out(std::uint64_t& full, int round) {
  if (Shape::kLoads || round < Shape::kStages) return false;
  hopper::mbarrier_arrive_expect_tx(full, 0);
  return true;
}

// The producer, one thread: issues all loads. `round` counts the steps of all tiles.
template <class Shape>
__device__ void produce(const Product& p, const Pipeline<Shape>& pipeline, int rank) {
  int round = 0;
  for (int tile = blockIdx.x / Shape::kCluster; tile < tiles<Shape>(p); tile += gridDim.x / Shape::kCluster) {
    const Corner at = corner<Shape>(p, tile, rank);
    for (int k = 0; k < p.inner; k += kBox, ++round) {
      const int s = round % Shape::kStages;
      hopper::mbarrier_wait(pipeline.empty[s], (round / Shape::kStages + 1) % 2);  // at first, every stage is empty
      if (!left_out<Shape>(pipeline.full[s], round)) load_step(p, pipeline, s, at, k, rank);
    }
  }
}

// A stage has been read by this warp: tells every block whose boxes this block loads.
template <class Shape>
__device__ void release(const Pipeline<Shape>& pipeline, int stage) {
  const int lane = threadIdx.x % 32;
  if (lane >= Shape::kCluster) return;
  if (Shape::kReleaseCluster) {
    hopper::mbarrier_arrive_release_cluster(pipeline.empty[stage], lane);
  } else {
    hopper::mbarrier_arrive_cluster(pipeline.empty[stage], lane);
  }
}

// Writes 64 rows of a tile as boxes in shared memory, which the TMA stores. Two boxes are used in turn.
template <int kSums>
__device__ void store_by_tma(const float (&sums)[kSums], const Product& p, int row, int column, Box* staging,
                             int barrier) {
  const int thread = threadIdx.x % kGroup, lane = thread % 32, warp = thread / 32;
#pragma unroll
  for (int j = 0; j < kSums / 32; ++j) {
    Box& box = staging[j % 2];
    if (thread == 0) hopper::tma_store_wait_read<(kSums > 32 ? 1 : 0)>();  // one box per tile: always the same one
    hopper::named_barrier_sync(barrier);
#pragma unroll
    for (int i = 0; i < 4; ++i) {  // 16 columns each
      const float* const from = sums + j * 32 + i * 8;
      const int row_of_box = warp * 16 + lane % 16, vector = 2 * i + lane / 16;
      const int to = kSwizzledStores ? swizzled(row_of_box, vector) : row_of_box * 128 + vector * 16;
      hopper::stmatrix_x4(box + to, packed(from[0], from[1]), packed(from[2], from[3]), packed(from[4], from[5]),
                          packed(from[6], from[7]));
    }
    hopper::fence_proxy_async();
    hopper::named_barrier_sync(barrier);
    if (thread == 0) hopper::tma_store(p.map_c, column + j * kBox, row, box);
  }
}

template <class Shape>
__device__ void initialize(const Pipeline<Shape>& pipeline) {
  for (int s = 0; s < Shape::kStages; ++s) {
    hopper::mbarrier_init(pipeline.full[s], 1);
    hopper::mbarrier_init(pipeline.empty[s], 4 * Shape::kConsumers * Shape::kCluster);  // each of their warps arrives
  }
  hopper::fence_mbarrier_init();
}

// The warpgroups of a block are specialized: the first one loads, and each of the others calls consume(pipeline, rank
// of the block in its cluster, number of the consumer).
template <class Shape, class Consume>
__device__ void specialize(const Product& p, Consume consume) {
  extern __shared__ __align__(1024) unsigned char stages[];
  __shared__ std::uint64_t full[Shape::kStages], empty[Shape::kStages];
  const Pipeline<Shape> pipeline{stages, full, empty};
  const int group = __shfl_sync(0xffffffff, threadIdx.x / kGroup, 0);  // the compiler sees that a warp has one value
  const int rank = Shape::kCluster == 1 ? 0 : hopper::cluster_rank();
  if (threadIdx.x == 0) {
    hopper::tma_prefetch_map(p.map_a), hopper::tma_prefetch_map(p.map_b);
    initialize(pipeline);
  }
  if (Shape::kCluster == 1) {
    __syncthreads();
  } else {
    hopper::cluster_sync();
  }
  cudaTriggerProgrammaticLaunchCompletion();  // a launch that permits it may overlap with this grid
  constexpr bool kSetmaxnreg = Shape::kSetmaxnreg && Shape::kConsumers == 2;  // with one, there are enough registers
  if (group == 0) {
    if (kSetmaxnreg) hopper::setmaxnreg_decrease<40>();
    if (threadIdx.x == 0) {
      cudaGridDependencySynchronize();  // the previous grid has finished, and its writes are visible
      produce(p, pipeline, rank);
    }
  } else {
    if (kSetmaxnreg) hopper::setmaxnreg_increase<232>();
    consume(pipeline, rank, group - 1);
  }
  __syncwarp();  // cluster_sync() requires that the lanes of a warp execute it together
  if (Shape::kCluster > 1) hopper::cluster_sync();  // other blocks may still use this block's barriers and boxes
}
