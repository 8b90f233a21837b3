// Ways to keep the tensor cores of compute capability 9.0 busy: c = a × b, square matrices of bfloat16 whose elements
// are contiguous in each row, n a multiple of 256; the sums are FP32. Each kernel changes one thing in an earlier one.
#include "04-kernels/verify.hpp"
#include "hopper.hpp"
#include "schedule.hpp"
#include "shape.hpp"

#include <cuda_bf16.h>

#include <cstdint>

using Box = unsigned char[kBoxBytes];

// The offset of 16 bytes of a box in shared memory. In each row, the eight vectors of 16 bytes are permuted, so that
// the same vector of eight rows occupies all 32 banks.
__device__ int swizzled(int row, int vector) { return row * 128 + (vector ^ row % 8) * 16; }

// Multiplies 64 rows of a by the columns of b, 64 products deep, in four instructions.
template <int kSums>
__device__ void multiply(float (&sums)[kSums], const Box* a, const Box* b, bool accumulate) {
  const std::uint64_t matrix_a = hopper::matrix_descriptor(a), matrix_b = hopper::matrix_descriptor(b);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    // 16 products further are 32 bytes in a's rows, and 16 rows of 128 bytes in b. Descriptors count in 16 bytes.
    hopper::wgmma(sums, matrix_a + 2 * k, matrix_b + 128 * k, accumulate || k > 0);
  }
}

__device__ unsigned packed(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&pair);
}

// Stores a thread's sums to c: in two rows, two neighboring elements out of every eight columns.
template <int kSums>
__device__ void store_directly(const float (&sums)[kSums], const Product& p, int row, int column) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  __nv_bfloat16* const to = static_cast<__nv_bfloat16*>(p.c) +
                            static_cast<std::size_t>(row + warp * 16 + lane / 4) * p.n + column + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < kSums; i += 4) {
    *reinterpret_cast<unsigned*>(to + i * 2) = packed(sums[i], sums[i + 1]);
    *reinterpret_cast<unsigned*>(to + i * 2 + 8 * p.n) = packed(sums[i + 2], sums[i + 3]);
  }
}

// `warpgroup`: the instruction. A block of one warpgroup computes a tile of 64 × 256. Its threads load boxes of a and b
// with 128-bit loads, store them swizzled in shared memory, and the tensor cores multiply them from there.
extern "C" __global__ void __launch_bounds__(kThreads<Warpgroup>) warpgroup(const __grid_constant__ Product p) {
  extern __shared__ __align__(1024) Box boxes[];
  constexpr int kBoxes = kStageBoxes<Warpgroup>, kEach = kBoxBytes / 16 / kGroup;  // vectors of a box per thread
  const Tile at = place(blockIdx.x, p.n / kBox, p.n / Warpgroup::kColumns, p.band);
  const int row = at.row * kBox, column = at.column * Warpgroup::kColumns;
  float sums[Warpgroup::kColumns / 2];
  for (int k = 0; k < p.n; k += kBox) {
    uint4 vectors[kBoxes][kEach];
#pragma unroll
    for (int box = 0; box < kBoxes; ++box) {
      const auto* const from = static_cast<const uint4*>(box == 0 ? p.a : p.b);
      const int top = box == 0 ? row : k, left = box == 0 ? k : column + (box - 1) * kBox;
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const int vector = threadIdx.x + i * kGroup;  // eight per row
        vectors[box][i] = from[(static_cast<std::size_t>(top + vector / 8) * p.n + left) / 8 + vector % 8];
      }
    }
#pragma unroll
    for (int box = 0; box < kBoxes; ++box) {
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const int vector = threadIdx.x + i * kGroup;
        *reinterpret_cast<uint4*>(boxes[box] + swizzled(vector / 8, vector % 8)) = vectors[box][i];
      }
    }
    hopper::fence_proxy_async();
    __syncthreads();
    hopper::wgmma_fence();
    multiply(sums, boxes, boxes + 1, k > 0);
    hopper::wgmma_commit();
    hopper::wgmma_wait<0>();
    __syncthreads();
  }
  store_directly(sums, p, row, column);
}

// `tma` and `multistage`: one thread issues TMA loads of the boxes, kStages - 1 steps ahead. A barrier in shared memory
// counts the bytes of each stage. With one stage, nothing is loaded while the tensor cores multiply.
template <class Shape>
__device__ void load_and_multiply(const Product& p) {
  extern __shared__ __align__(1024) Box stages[];
  __shared__ std::uint64_t full[Shape::kStages];
  constexpr int kBoxes = kStageBoxes<Shape>, kAhead = Shape::kStages == 1 ? 1 : Shape::kStages - 1;
  const Tile at = place(blockIdx.x, p.n / kBox, p.n / Shape::kColumns, p.band);
  const int row = at.row * kBox, column = at.column * Shape::kColumns, steps = p.n / kBox;
  auto load = [&](int step) {
    const int s = step % Shape::kStages, k = step * kBox;
    Box *const a = stages + s * kBoxes, *const b = a + 1;
    hopper::mbarrier_arrive_expect_tx(full[s], kBoxes * kBoxBytes);
    hopper::tma_load(a[0], p.map_a, k, row, full[s]);
    for (int i = 0; i < kBoxesOfB<Shape>; ++i) hopper::tma_load(b[i], p.map_b, column + i * kBox, k, full[s]);
  };
  if (threadIdx.x == 0) {
    for (std::uint64_t& barrier : full) hopper::mbarrier_init(barrier, 1);
    hopper::fence_mbarrier_init();
    for (int step = 0; step < kAhead && step < steps; ++step) load(step);
  }
  __syncthreads();
  float sums[Shape::kColumns / 2];
  for (int step = 0; step < steps; ++step) {
    const int s = step % Shape::kStages;
    hopper::mbarrier_wait(full[s], step / Shape::kStages % 2);
    hopper::wgmma_fence();
    multiply(sums, stages + s * kBoxes, stages + s * kBoxes + 1, step > 0);
    hopper::wgmma_commit();
    // The stage that is loaded next must have been read: with several stages by the step before, else by this one.
    hopper::wgmma_wait<(Shape::kStages > 1 ? 1 : 0)>();
    __syncthreads();
    if (threadIdx.x == 0 && step + kAhead < steps) load(step + kAhead);
  }
  hopper::wgmma_wait<0>();
  store_directly(sums, p, row, column);
}

extern "C" __global__ void __launch_bounds__(kThreads<Warpgroup>) tma(const __grid_constant__ Product p) {
  load_and_multiply<Warpgroup>(p);
}
extern "C" __global__ void __launch_bounds__(kThreads<Multistage>) multistage(const __grid_constant__ Product p) {
  load_and_multiply<Multistage>(p);
}

// ---- From here on, the warpgroups are specialized: the first loads, each of the others multiplies ----

// The stages of a pipeline. full[s]: the boxes of stage s have been loaded. empty[s]: all consumers have read them.
template <class Shape>
struct Pipeline {
  Box* stages;
  std::uint64_t *full, *empty;

  __device__ Box* a(int stage) const { return stages + stage * kStageBoxes<Shape>; }
  __device__ Box* b(int stage) const { return a(stage) + kBoxesOfA<Shape>; }
};

// In a control run, nothing is loaded after the first stages, but the barriers work as before.
template <class Shape>
__device__ bool left_out(std::uint64_t& full, int round) {
  if (Shape::kLoads || round < Shape::kStages) return false;
  hopper::mbarrier_arrive_expect_tx(full, 0);
  return true;
}

// One thread issues all loads. In a cluster, each block loads its own boxes of a and a part of the boxes of b, which
// the TMA writes to the shared memory of every block.
template <class Shape, class Corner>
__device__ void produce(const Product& p, const Pipeline<Shape>& pipeline, Schedule<Shape::kStreamK> schedule, int rank,
                        Corner corner) {
  constexpr int kMine = kBoxesOfB<Shape> / Shape::kCluster;
  const std::uint64_t policy = Shape::kKeepA ? hopper::evict_last() : 0;
  int round = 0;
  for (Work work; schedule.next(work);) {
    const Tile at = corner(work.tile);
    for (int step = work.first; step < work.last; ++step, ++round) {
      const int s = round % Shape::kStages, k = step * kBox;
      std::uint64_t& full = pipeline.full[s];
      hopper::mbarrier_wait(pipeline.empty[s], (round / Shape::kStages + 1) % 2);  // at first, every stage is empty
      if (left_out<Shape>(full, round)) continue;
      hopper::mbarrier_arrive_expect_tx(full, kStageBoxes<Shape> * kBoxBytes);
#pragma unroll
      for (int i = 0; i < kBoxesOfA<Shape>; ++i) {
        if (Shape::kKeepA) {
          hopper::tma_load(pipeline.a(s)[i], p.map_a, k, at.row + i * kBox, full, policy);
        } else {
          hopper::tma_load(pipeline.a(s)[i], p.map_a, k, at.row + i * kBox, full);
        }
      }
#pragma unroll
      for (int i = rank * kMine; i < (rank + 1) * kMine; ++i) {
        if (Shape::kCluster == 1) {
          hopper::tma_load(pipeline.b(s)[i], p.map_b, at.column + i * kBox, k, full);
        } else {
          constexpr std::uint16_t kAll = (1 << Shape::kCluster) - 1;
          hopper::tma_load_multicast(pipeline.b(s)[i], p.map_b, at.column + i * kBox, k, full, kAll);
        }
      }
    }
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
      hopper::stmatrix_x4(box + swizzled(warp * 16 + lane % 16, 2 * i + lane / 16), packed(from[0], from[1]),
                          packed(from[2], from[3]), packed(from[4], from[5]), packed(from[6], from[7]));
    }
    hopper::fence_proxy_async();
    hopper::named_barrier_sync(barrier);
    if (thread == 0) hopper::tma_store(p.map_c, column + j * kBox, row, box);
  }
}

// Stream-K. A worker that has computed the last steps of a tile writes its sums to global memory; the worker that has
// the tile's first step adds them to its own. Returns whether this thread's sums are now those of the whole tile.
template <class Shape, int kSums>
__device__ bool combine(float (&sums)[kSums], const Product& p, const Schedule<true>& schedule, Work work, int steps,
                        int rank, int consumer) {
  const int thread = threadIdx.x % kGroup, worker = blockIdx.x / Shape::kCluster;
  auto slot = [&](int of) { return (of * Shape::kCluster + rank) * Shape::kConsumers + consumer; };
  auto part = [&](int of) { return reinterpret_cast<float4*>(p.partial) + slot(of) * (kSums / 4 * kGroup) + thread; };
  if (work.first > 0) {
#pragma unroll
    for (int i = 0; i < kSums; i += 4) {
      part(worker)[i / 4 * kGroup] = make_float4(sums[i], sums[i + 1], sums[i + 2], sums[i + 3]);
    }
    __threadfence();
    hopper::named_barrier_sync(1 + consumer);
    if (thread == 0) atomicExch(p.ready + slot(worker), 1);
    return false;
  }
  for (int other = worker + 1, done = work.last; done < steps; ++other) {
    const int share = min(steps - done, schedule.share(other));
    if (share == 0) continue;
    done += share;
    if (thread == 0) {
      while (atomicExch(p.ready + slot(other), 0) == 0) continue;  // 0 again for the next launch
      __threadfence();
    }
    hopper::named_barrier_sync(1 + consumer);
#pragma unroll
    for (int i = 0; i < kSums; i += 4) {
      const float4 added = __ldcg(part(other) + i / 4 * kGroup);
      sums[i] += added.x, sums[i + 1] += added.y, sums[i + 2] += added.z, sums[i + 3] += added.w;
    }
  }
  return true;
}

// A warpgroup multiplies what the producer has loaded. With cooperative consumers, each multiplies 64 rows of every
// tile. Ping-pong consumers have a whole tile each, in turn: one stores its tile while the other multiplies. Each waits
// for its turn: a barrier that is several phases behind could otherwise have the right parity by chance.
template <class Shape, class Corner>
__device__ void consume(const Product& p, const Pipeline<Shape>& pipeline, Schedule<Shape::kStreamK> schedule, int rank,
                        int consumer, Corner corner) {
  const int thread = threadIdx.x % kGroup, lane = thread % 32, steps = p.n / kBox;
  const int box = Shape::kPingPong ? 0 : consumer;  // the 64 rows of the tile that this consumer has
  auto release = [&](int stage) {
    if (lane >= Shape::kCluster) return;
    if (Shape::kReleaseCluster) {
      hopper::mbarrier_arrive_release_cluster(pipeline.empty[stage], lane);
    } else {
      hopper::mbarrier_arrive_cluster(pipeline.empty[stage], lane);
    }
  };
  constexpr int kTurn = 1 + Shape::kConsumers;  // named barriers; those before are for the epilogue
  Work work;
  for (int round = 0, count = 0; schedule.next(work); ++count) {
    if (Shape::kPingPong && count % Shape::kConsumers != consumer) {
      round += work.last - work.first;
      continue;
    }
    if (Shape::kPingPong && count > 0) hopper::named_barrier_sync(kTurn + consumer, 2 * kGroup);
    float sums[Shape::kColumns / 2];
    for (int step = work.first; step < work.last; ++step, ++round) {
      const int s = round % Shape::kStages;
      hopper::mbarrier_wait(pipeline.full[s], round / Shape::kStages % 2);
      hopper::wgmma_fence();
      multiply(sums, pipeline.a(s) + box, pipeline.b(s), step > work.first);
      hopper::wgmma_commit();
      hopper::wgmma_wait<1>();  // the previous step is complete; this one runs during the wait for the next stage
      if (step > work.first) release((round - 1) % Shape::kStages);
    }
    if (Work next; Shape::kPingPong && Schedule<Shape::kStreamK>(schedule).next(next)) {
      hopper::named_barrier_arrive(kTurn + 1 - consumer, 2 * kGroup);
    }
    hopper::wgmma_wait<0>();
    release((round - 1) % Shape::kStages);

    if constexpr (Shape::kStreamK) {
      if (!combine<Shape>(sums, p, schedule, work, steps, rank, consumer)) continue;
    }
    const Tile at = corner(work.tile);
    if (Shape::kTmaStore) {
      Box* const staging = pipeline.a(Shape::kStages) + 2 * consumer;
      store_by_tma(sums, p, at.row + box * kBox, at.column, staging, 1 + consumer);
    } else {
      store_directly(sums, p, at.row + box * kBox, at.column);
    }
  }
  if (Shape::kTmaStore && thread == 0) hopper::tma_store_wait_read<0>();  // shared memory must outlive the stores
}

template <class Shape>
__device__ void product(const Product& p) {
  extern __shared__ __align__(1024) Box stages[];
  __shared__ std::uint64_t full[Shape::kStages], empty[Shape::kStages];
  const Pipeline<Shape> pipeline{stages, full, empty};
  const int group = __shfl_sync(0xffffffff, threadIdx.x / kGroup, 0);  // the compiler sees that a warp has one value
  const int rank = Shape::kCluster == 1 ? 0 : hopper::cluster_rank();
  // The tiles of a cluster are below each other, so that they need the same boxes of b.
  const int rows = p.n / (kTileRows<Shape> * Shape::kCluster), columns = p.n / Shape::kColumns;
  auto corner = [&](int tile) {
    const Tile at = place(tile, rows, columns, p.band);
    return Tile{(at.row * Shape::kCluster + rank) * kTileRows<Shape>, at.column * Shape::kColumns};
  };
  if (threadIdx.x == 0) {
    hopper::tma_prefetch_map(p.map_a), hopper::tma_prefetch_map(p.map_b);
    for (int s = 0; s < Shape::kStages; ++s) {
      constexpr int kReaders = Shape::kPingPong ? 1 : Shape::kConsumers;  // warpgroups; each of their warps arrives
      hopper::mbarrier_init(full[s], 1);
      hopper::mbarrier_init(empty[s], 4 * kReaders * Shape::kCluster);
    }
    hopper::fence_mbarrier_init();
  }
  if (Shape::kCluster == 1) {
    __syncthreads();
  } else {
    hopper::cluster_sync();
  }
  const Schedule<Shape::kStreamK> schedule(rows * columns, p.n / kBox, gridDim.x / Shape::kCluster,
                                           blockIdx.x / Shape::kCluster);
  constexpr bool kSetmaxnreg = Shape::kSetmaxnreg && Shape::kConsumers == 2;  // with one, there are enough registers
  if (group == 0) {
    if (kSetmaxnreg) hopper::setmaxnreg_decrease<40>();
    if (threadIdx.x == 0) produce(p, pipeline, schedule, rank, corner);
  } else {
    if (kSetmaxnreg) hopper::setmaxnreg_increase<232>();
    consume(p, pipeline, schedule, rank, group - 1, corner);
  }
  __syncwarp();  // cluster_sync() requires that the lanes of a warp execute it together
  if (Shape::kCluster > 1) hopper::cluster_sync();  // other blocks may still use this block's barriers and boxes
}

#define KERNEL(name, Shape)                                                                                  \
  extern "C" __global__ void __launch_bounds__(kThreads<Shape>, 1) name(const __grid_constant__ Product p) { \
    product<Shape>(p);                                                                                       \
  }
KERNEL(specialized, Specialized)
KERNEL(cooperative, Cooperative)
KERNEL(tma_store, TmaStore)
KERNEL(cluster, Cluster)
KERNEL(ping_pong, PingPong)
KERNEL(keep_a, KeepA)
KERNEL(stream_k, StreamK)
KERNEL(narrow, Narrow)
KERNEL(small, Small)
KERNEL(smallest, Smallest)
KERNEL(no_loads, NoLoads)
KERNEL(no_setmaxnreg, NoSetmaxnreg)
KERNEL(release_cluster, ReleaseCluster)
