// Schedules for a product on the tensor cores of compute capability 9.0: c = a × b, matrices of bfloat16 whose elements
// are contiguous in each row, with FP32 sums. Each kernel changes one thing in an earlier one. The rows and columns of
// c are multiples of a tile's, and the inner dimension is a multiple of 64.
#include "04-kernels/clock.hpp"
#include "04-kernels/verify.hpp"
#include "pipeline.hpp"

// Multiplies the boxes of one stage, without waiting for the result. A warpgroup multiplies 64 rows of a.
template <class Shape, int kSums>
__device__ void multiply_step(float (&sums)[kSums], const Pipeline<Shape>& pipeline, int stage, int group, bool add) {
  constexpr hopper::Major kB = Shape::kTransposed ? hopper::Major::kK : hopper::Major::kMN;
  hopper::wgmma_fence();
#pragma unroll
  for (int deep = 0; deep < Shape::kDeep; ++deep) {
    multiply<kB>(sums, pipeline.a(stage, deep) + group, pipeline.b(stage, deep), add || deep > 0);
  }
  hopper::wgmma_commit();
}

__device__ __nv_bfloat16* element_of_c(const Product& p, int row, int column) {
  return static_cast<__nv_bfloat16*>(p.c) + static_cast<std::size_t>(row) * p.columns + column;
}

// ---- `one_stage` to `cooperative`: all warps multiply, and one thread also issues the loads ----

// The loads are kStages - 1 steps ahead; with one stage, nothing is loaded while the tensor cores multiply. All warps
// wait for each other in every step, because a stage may be filled again only after all of them have read it.
template <class Shape>
__device__ void load_and_multiply(const Product& p) {
  extern __shared__ __align__(1024) unsigned char stages[];
  __shared__ std::uint64_t full[Shape::kStages];
  const Pipeline<Shape> pipeline{stages, full, nullptr};
  constexpr int kAhead = Shape::kStages == 1 ? 1 : Shape::kStages - 1;
  const int steps = p.inner / kBox, group = threadIdx.x / kGroup;
  const Corner at = corner<Shape>(p, blockIdx.x, 0);
  if (threadIdx.x == 0) {
    for (std::uint64_t& barrier : full) hopper::mbarrier_init(barrier, 1);
    hopper::fence_mbarrier_init();
    for (int step = 0; step < min(kAhead, steps); ++step) load_step(p, pipeline, step, at, step * kBox, 0);
  }
  __syncthreads();
  float sums[Shape::kColumns / 2];
  for (int step = 0; step < steps; ++step) {
    const int s = step % Shape::kStages, next = step + kAhead;
    hopper::mbarrier_wait(full[s], step / Shape::kStages % 2);
    multiply_step(sums, pipeline, s, group, step > 0);
    // The stage that is filled next must have been read: with several stages by the step before, else by this one.
    hopper::wgmma_wait<(Shape::kStages > 1 ? 1 : 0)>();
    __syncthreads();
    if (threadIdx.x == 0 && next < steps) load_step(p, pipeline, next % Shape::kStages, at, next * kBox, 0);
  }
  hopper::wgmma_wait<0>();
  store_directly(sums, element_of_c(p, at.row + group * kBox, at.column), p.columns);
}

// ---- From here on, the warpgroups are specialized: the first loads, each of the others multiplies ----

// A consumer, one warpgroup: multiplies its 64 rows of every tile by what the producer has loaded.
template <class Shape>
__device__ void consume(const Product& p, const Pipeline<Shape>& pipeline, int rank, int consumer) {
  const int steps = p.inner / kBox;
  int round = 0;
  for (int tile = blockIdx.x / Shape::kCluster; tile < tiles<Shape>(p); tile += gridDim.x / Shape::kCluster) {
    float sums[Shape::kColumns / 2];
    for (int step = 0; step < steps; ++step, ++round) {
      const int s = round % Shape::kStages;
      hopper::mbarrier_wait(pipeline.full[s], round / Shape::kStages % 2);
      multiply_step(sums, pipeline, s, consumer, step > 0);
      hopper::wgmma_wait<1>();  // the previous step is complete; this one runs during the wait for the next stage
      if (step > 0) release(pipeline, (round - 1) % Shape::kStages);
    }
    hopper::wgmma_wait<0>();
    release(pipeline, (round - 1) % Shape::kStages);
    const Corner at = corner<Shape>(p, tile, rank);
    const int row = at.row + consumer * kBox;
    if constexpr (Shape::kTmaStore) {
      Box* const staging = pipeline.a(Shape::kStages) + 2 * consumer;
      store_by_tma(sums, p, row, at.column, staging, 1 + consumer);
    } else {
      store_directly(sums, element_of_c(p, row, at.column), p.columns);
    }
  }
  // Shared memory must outlive the stores.
  if (Shape::kTmaStore && threadIdx.x % kGroup == 0) hopper::tma_store_wait_read<0>();
}

// ---- Few rows of x: y = x · wᵀ, computed as w · xᵀ ----

// Adds the sums of the other blocks of a cluster to those of its first one, through the first one's shared memory.
template <int kSums>
__device__ void add_up(float (&sums)[kSums], float* buffer, int rank, int blocks) {
  const int thread = threadIdx.x % kGroup;
  const bool consumer = threadIdx.x >= kGroup;
  if (consumer && rank > 0) {
    for (int i = 0; i < kSums; ++i) buffer[i * kGroup + thread] = sums[i];
  }
  hopper::cluster_sync();
  for (int other = 1; consumer && rank == 0 && other < blocks; ++other) {
    for (int i = 0; i < kSums; ++i) sums[i] += hopper::load_from_block(buffer + i * kGroup + thread, other);
  }
  hopper::cluster_sync();  // until then, the other blocks' shared memory must exist
}

// A cluster computes 64 columns of y. Each of its blocks takes a part of the steps. `rows` and `columns` are those of
// the transposed result, but y itself is stored.
template <class Shape>
__device__ void thin(const Product& p, int rows_of_x) {
  extern __shared__ __align__(1024) unsigned char stages[];
  __shared__ std::uint64_t full[Shape::kStages], empty[Shape::kStages];
  const Pipeline<Shape> pipeline{stages, full, empty};
  const int rank = hopper::cluster_rank(), blocks = hopper::cluster_size();
  constexpr int kDepth = Shape::kDeep * kBox;  // boxes beyond the end of the matrices are filled with zeros
  const int all = (p.inner + kDepth - 1) / kDepth;
  const Corner at{static_cast<int>(blockIdx.x) / blocks * kBox, 0};
  const int first = all * rank / blocks, last = all * (rank + 1) / blocks;
  if (threadIdx.x == 0) initialize(pipeline);
  __syncthreads();
  cudaTriggerProgrammaticLaunchCompletion();  // a launch that permits it may overlap with this grid
  float sums[Shape::kColumns / 2] = {};
  if (threadIdx.x == 0) {
    cudaGridDependencySynchronize();  // the previous grid has finished, and its writes are visible
    for (int step = first, round = 0; step < last; ++step, ++round) {
      const int s = round % Shape::kStages;
      hopper::mbarrier_wait(empty[s], (round / Shape::kStages + 1) % 2);
      load_step(p, pipeline, s, at, step * kDepth, 0);
    }
  } else if (threadIdx.x >= kGroup) {
    for (int step = first, round = 0; step < last; ++step, ++round) {
      const int s = round % Shape::kStages;
      hopper::mbarrier_wait(full[s], round / Shape::kStages % 2);
      multiply_step(sums, pipeline, s, 0, true);
      hopper::wgmma_wait<0>();
      if (threadIdx.x % 32 == 0) hopper::mbarrier_arrive(empty[s]);
    }
  }
  __syncthreads();
  add_up(sums, reinterpret_cast<float*>(stages), rank, blocks);
  if (threadIdx.x < kGroup || rank > 0) return;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
#pragma unroll
  for (int i = 0; i < Shape::kColumns / 2; ++i) {
    const int column = at.row + warp * 16 + i / 2 % 2 * 8 + lane / 4, row = i / 4 * 8 + lane % 4 * 2 + i % 2;
    if (row < rows_of_x)
      static_cast<__nv_bfloat16*>(p.c)[std::size_t(row) * p.rows + column] = __float2bfloat16_rn(sums[i]);
  }
}

template <class Shape>
__device__ void compute(const Product& p) {
  if constexpr (Shape::kThin) {
    thin<Shape>(p, p.columns);
  } else if constexpr (Shape::kSpecialized) {
    specialize<Shape>(
        p, [&](const Pipeline<Shape>& pipeline, int rank, int consumer) { consume(p, pipeline, rank, consumer); });
  } else {
    load_and_multiply<Shape>(p);
  }
}

// How many blocks share a multiprocessor.
template <class Shape>
constexpr int kBlocks = Shape::kStages == 1                ? 3
                        : kSharedBytes<Shape> <= 112 << 10 ? 2
                                                           : 1;

#define KERNEL(name, ...)                                                                   \
  extern "C" __global__ void __launch_bounds__(kThreads<__VA_ARGS__>, kBlocks<__VA_ARGS__>) \
      name(const __grid_constant__ Product p) {                                             \
    compute<__VA_ARGS__>(p);                                                                \
  }
KERNEL(one_stage, OneStage)
KERNEL(pipelined, Pipelined)
KERNEL(cooperative, Cooperative)
KERNEL(specialized, Specialized)
KERNEL(tma_store, TmaStore)
KERNEL(cluster, Cluster)
KERNEL(small, Small)
KERNEL(smallest, Smallest)
KERNEL(thin_16, Thin<16>)
KERNEL(thin_64, Thin<64>)
KERNEL(tma_store_t, Transposed<TmaStore>)
KERNEL(cluster_t, Transposed<Cluster>)
KERNEL(small_t, Transposed<Small>)
KERNEL(one_block, OneBlock)
KERNEL(single, SingleConsumer)
KERNEL(single_no_loads, NoLoads<SingleConsumer>)
KERNEL(no_loads, NoLoads<Cluster>)
KERNEL(no_setmaxnreg, NoSetmaxnreg)
KERNEL(release_cluster, ReleaseCluster)
