// The same for what needs compute capability 8.0, and for libraries: cooperative groups, libcu++, CUB.
#include "tests/checks/kernel.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline_primitives.h>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

// ---- Races

KERNEL(race_async_copy_not_waited_for) {
  __shared__ alignas(16) u32 tile[256];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  out[threadIdx.x] = tile[threadIdx.x];
  __pipeline_wait_prior(0);
}

KERNEL(race_async_copy_waited_for_alone) {
  __shared__ alignas(16) u32 tile[256];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = tile[255 - threadIdx.x];  // the others' copies: no barrier
}

KERNEL(race_wrong_stage_of_pipeline) {
  __shared__ alignas(16) u32 tile[2][256];
  const u32 t = threadIdx.x;
  for (u32 stage = 0; stage < 2; ++stage) {
    __pipeline_memcpy_async(&tile[stage][t], &in[stage * 256 + t], 4);
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  __syncthreads();
  out[t] = tile[1][255 - t];  // only stage 0 has come
  __pipeline_wait_prior(0);
}

KERNEL(race_relaxed_flag) {
  cuda::atomic_ref<u32, cuda::thread_scope_device> flag(out[n - 1]);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    out[0] = in[0] + 1;
    flag.store(1, cuda::std::memory_order_relaxed);
  } else {
    while (flag.load(cuda::std::memory_order_acquire) == 0) {
    }
    out[1] = out[0];
  }
}

KERNEL(race_grid_without_sync) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  out[i] = in[i];
  __syncthreads();
  in[i] = out[all - 1 - i];
}

// ---- No races

KERNEL(fine_async_copy) {
  __shared__ alignas(16) u32 tile[2][256];
  const u32 t = threadIdx.x;
  u32 sum = 0;
  __pipeline_memcpy_async(&tile[0][t], &in[t], 4);
  __pipeline_commit();
  for (u32 i = 0; i < 4; ++i) {
    if (i < 3) __pipeline_memcpy_async(&tile[(i + 1) % 2][t], &in[(i + 1) * 256 + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += tile[i % 2][255 - t];
    __syncthreads();
  }
  out[t] = sum;
}

KERNEL(fine_atomic_ref) {
  cuda::atomic_ref<u32, cuda::thread_scope_device> flag(out[n - 1]);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    out[0] = in[0] + 1;
    flag.store(1, cuda::std::memory_order_release);
  } else {
    while (flag.load(cuda::std::memory_order_acquire) == 0) {
    }
    out[blockIdx.x] = out[0];
  }
}

// Sequentially consistent, and a counter that the last one to come acts upon.
KERNEL(fine_ticket) {
  cuda::atomic_ref<u32, cuda::thread_scope_device> counter(out[n - 1]);
  if (threadIdx.x != 0) return;
  out[1 + blockIdx.x] = in[blockIdx.x];
  if (counter.fetch_add(1) != gridDim.x - 1) return;
  u32 sum = 0;
  for (u32 b = 0; b < gridDim.x; ++b) sum += out[1 + b];
  out[0] = sum;
}

KERNEL(fine_block_barrier) {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier all;
  __shared__ u32 values[256];
  const u32 t = threadIdx.x;
  if (t == 0) init(&all, blockDim.x);
  __syncthreads();
  for (u32 i = 0; i < 3; ++i) {
    values[t] = in[i * 256 + t];
    barrier::arrival_token token = all.arrive();
    out[n - 1 - t] = t;
    all.wait(std::move(token));
    out[i * 256 + t] = values[255 - t];
    all.arrive_and_wait();
  }
}

// Half of the block fills buffers, the other half empties them.
KERNEL(fine_producers_and_consumers) {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ barrier ready[2], filled[2];
  __shared__ u32 buffer[2][64];
  const u32 t = threadIdx.x;
  if (t < 4) init(t < 2 ? &ready[t] : &filled[t - 2], blockDim.x);
  __syncthreads();
  if (t < 64) {
    for (u32 i = 0; i < 8; ++i) {
      ready[i % 2].arrive_and_wait();
      buffer[i % 2][t] = in[i * 64 + t];
      (void)filled[i % 2].arrive();
    }
  } else {
    (void)ready[0].arrive();
    (void)ready[1].arrive();
    for (u32 i = 0; i < 8; ++i) {
      filled[i % 2].arrive_and_wait();
      out[i * 64 + t - 64] = buffer[i % 2][127 - t];
      (void)ready[i % 2].arrive();
    }
  }
}

KERNEL(fine_pipeline) {
  constexpr u32 kStages = 2;
  __shared__ alignas(16) u32 tile[kStages][256];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const u32 t = threadIdx.x;
  u32 sum = 0;
  for (u32 compute = 0, fetch = 0; compute < 4; ++compute) {
    for (; fetch < 4 && fetch < compute + kStages; ++fetch) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, tile[fetch % kStages], in + fetch * 256, cuda::aligned_size_t<16>(1024), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    sum += tile[compute % kStages][255 - t];
    pipeline.consumer_release();
  }
  out[t] = sum;
}

KERNEL(fine_groups) {
  __shared__ u32 values[256];
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  const u32 t = block.thread_rank();
  values[t] = in[t];
  tile.sync();
  const u32 other = values[t ^ 3];
  const u32 sum = cg::reduce(tile, other, cg::plus<u32>());
  block.sync();
  if (tile.thread_rank() == 0) values[t / 8] = sum;
  block.sync();
  if (t < 32) out[t] = values[t];
  if (in[t] % 2 == 0) {
    auto some = cg::coalesced_threads();
    some.sync();
    if (some.thread_rank() == 0) atomicAdd(&out[32], some.size());
  }
}

KERNEL(fine_grid_sync) {
  auto grid = cg::this_grid();
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  for (u32 round = 0; round < 3; ++round) {
    out[i] = in[i] + round;
    grid.sync();
    in[i] = out[all - 1 - i];
    grid.sync();
  }
}

KERNEL(fine_block_algorithms) {
  using Sort = cub::BlockRadixSort<u32, 128, 4>;
  using Scan = cub::BlockScan<u32, 128>;
  using Reduce = cub::BlockReduce<u32, 128>;
  __shared__ union {
    typename Sort::TempStorage sort;
    typename Scan::TempStorage scan;
    typename Reduce::TempStorage reduce;
  } storage;
  u32 keys[4];
  const u32 t = threadIdx.x;
  for (u32 i = 0; i < 4; ++i) keys[i] = in[blockIdx.x * 512 + t * 4 + i] * 2654435761u;
  Sort(storage.sort).Sort(keys);
  __syncthreads();
  u32 sum;
  Scan(storage.scan).ExclusiveSum(keys, keys, sum);
  __syncthreads();
  const u32 total = Reduce(storage.reduce).Sum(keys);
  for (u32 i = 0; i < 4; ++i) out[blockIdx.x * 512 + t * 4 + i] = keys[i];
  __syncthreads();
  if (t == 0) atomicAdd(&out[n - 1], total + sum);
}

// Sorts structures whose padding was never written.
struct Named {
  char letter;
  double number;
};
struct ByNumber {
  __device__ bool operator()(const Named& a, const Named& b) const { return a.number < b.number; }
};
KERNEL(fine_merge_sort_of_padding) {
  using Sort = cub::BlockMergeSort<Named, 128, 2>;
  __shared__ typename Sort::TempStorage storage;
  __shared__ Named values[256];
  const u32 t = threadIdx.x;
  for (u32 i = t; i < 256; i += 128) {
    values[i].letter = 'x';
    values[i].number = in[i] * 2654435761u;
  }
  __syncthreads();
  Named mine[2] = {values[2 * t], values[2 * t + 1]};
  Sort(storage).Sort(mine, ByNumber());
  reinterpret_cast<Named*>(out)[2 * t] = mine[0];
  reinterpret_cast<Named*>(out)[2 * t + 1] = mine[1];
}

KERNEL(fine_warp_algorithm) {
  using Reduce = cub::WarpReduce<u32, 16>;
  __shared__ typename Reduce::TempStorage storage[8];
  const u32 sum = Reduce(storage[threadIdx.x / 16]).Sum(in[threadIdx.x]);
  if (threadIdx.x % 16 == 0) out[threadIdx.x / 16] = sum;
}
