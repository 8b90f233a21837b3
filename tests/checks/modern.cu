// What needs compute capability 9.0: clusters, and bulk copies that an mbarrier counts.
#include "tests/checks/kernel.hpp"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#define CLUSTER_KERNEL(name) extern "C" __global__ void __cluster_dims__(2, 1, 1) name(u32* in, u32* out, u32 n)

__device__ u32 address(const void* shared) { return static_cast<u32>(__cvta_generic_to_shared(shared)); }
__device__ void begin(unsigned long long& barrier) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(address(&barrier))
               : "memory");
}
// 1 KiB from global to shared memory; the barrier's phase ends when it is there.
__device__ void fetch(u32* tile, const u32* from, unsigned long long& barrier) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;\n\t"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%1], [%2], 1024, [%0];" ::"r"(
          address(&barrier)),
      "r"(address(tile)), "l"(__cvta_generic_to_global(from))
      : "memory");
}
__device__ void wait(unsigned long long& barrier, u32 parity) {
  asm volatile(
      "{\n\t.reg .pred done;\n\tagain:\n\tmbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n\t@!done bra "
      "again;\n\t}" ::"r"(address(&barrier)),
      "r"(parity)
      : "memory");
}

__device__ void publish() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// 1 KiB from shared to global memory, a group of its own.
__device__ void store(u32* to, const u32* tile) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;\n\tcp.async.bulk.commit_group;" ::"l"(
                   __cvta_generic_to_global(to)),
               "r"(address(tile))
               : "memory");
}
template <int pending>
__device__ void wait_until_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}

KERNEL(race_bulk_copy_not_waited_for) {
  __shared__ alignas(128) u32 tile[256];
  __shared__ unsigned long long barrier;
  if (threadIdx.x == 0) begin(barrier);
  __syncthreads();
  if (threadIdx.x == 0) fetch(tile, in, barrier);
  __syncthreads();  // orders the threads, not the copy
  out[threadIdx.x] = tile[255 - threadIdx.x];
  wait(barrier, 0);
}

CLUSTER_KERNEL(race_other_block_of_the_cluster) {
  __shared__ u32 values[64];
  auto cluster = cg::this_cluster();
  cluster.sync();
  values[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();  // the other block does not come here
  const u32* other = cluster.map_shared_rank(values, cluster.block_rank() ^ 1);
  out[blockIdx.x * 64 + threadIdx.x] = other[63 - threadIdx.x];
  cluster.sync();
}

KERNEL(race_bulk_store_not_waited_for) {
  __shared__ alignas(128) u32 tile[256];
  for (u32 i = 0; i < 2; ++i) {
    tile[threadIdx.x] = in[i * 256 + threadIdx.x];  // while the store before may still read
    publish();
    __syncthreads();
    if (threadIdx.x == 0) store(out + i * 256, tile);
    __syncthreads();
  }
  wait_until_read<0>();
}

KERNEL(fine_bulk_copy) {
  __shared__ alignas(128) u32 tile[256];
  __shared__ unsigned long long barrier;
  if (threadIdx.x == 0) begin(barrier);
  __syncthreads();
  for (u32 i = 0; i < 3; ++i) {
    if (threadIdx.x == 0) fetch(tile, in + i * 256, barrier);
    wait(barrier, i % 2);
    out[i * 256 + threadIdx.x] = tile[255 - threadIdx.x];
    __syncthreads();
  }
}

KERNEL(fine_bulk_store) {
  __shared__ alignas(128) u32 tile[256];
  for (u32 i = 0; i < 2; ++i) {
    tile[threadIdx.x] = in[i * 256 + threadIdx.x];
    publish();
    __syncthreads();
    if (threadIdx.x == 0) {
      store(out + i * 256, tile);
      wait_until_read<0>();
    }
    __syncthreads();
  }
}

KERNEL(fine_two_bulk_stores) {
  __shared__ alignas(128) u32 tile[2][256];
  for (u32 i = 0; i < 4; ++i) {
    if (threadIdx.x == 0) wait_until_read<1>();  // the store before the last one has read this tile
    __syncthreads();
    tile[i % 2][threadIdx.x] = in[i * 256 + threadIdx.x];
    publish();
    __syncthreads();
    if (threadIdx.x == 0) store(out + i * 256, tile[i % 2]);
  }
  wait_until_read<0>();
}

CLUSTER_KERNEL(fine_cluster) {
  __shared__ u32 values[64];
  auto cluster = cg::this_cluster();
  values[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  cluster.sync();
  const u32* other = cluster.map_shared_rank(values, cluster.block_rank() ^ 1);
  out[blockIdx.x * 64 + threadIdx.x] = other[63 - threadIdx.x];
  cluster.sync();
}
