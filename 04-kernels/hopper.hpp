// Asynchronous copies of compute capability 9.0 and later, and the barriers that wait for them: instructions for which
// C++ has no syntax, one function each. NVIDIA's library CCCL wraps the same instructions in the namespace cuda::ptx.
// PTX ISA: "mbarrier", "cp.async.bulk", "cp.async.bulk.tensor", "st.async", "fence.proxy", "barrier.cluster".
#pragma once
#include <cuda.h>

#include <cstdint>

namespace hopper {

__device__ inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// ---- mbarrier: a 64-bit object in shared memory that counts arrivals and bytes ----
//
// A phase completes when all expected arrivals have occurred and all expected bytes have been transferred. Then the
// next phase begins. A thread waits for a phase by its parity: 0, 1, 0, 1 … The barrier cannot distinguish phases that
// are two apart, so a thread that waits must never be more than one phase behind.

__device__ inline void mbarrier_init(std::uint64_t& barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)), "r"(arrivals) : "memory");
}

// Makes initialized barriers visible to the TMA and to the other blocks of the cluster.
__device__ inline void fence_mbarrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ inline void mbarrier_arrive(std::uint64_t& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier)) : "memory");
}

// Arrives, and adds to the bytes that the current phase expects.
__device__ inline void mbarrier_arrive_expect_tx(std::uint64_t& barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)), "r"(bytes)
               : "memory");
}

// Arrives at the same barrier of a block of the cluster. The default semantics are .release with .cta scope, which
// orders what this thread has read before the arrival.
__device__ inline void mbarrier_arrive_cluster(std::uint64_t& barrier, unsigned block) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
      "}" ::"r"(shared_address(&barrier)),
      "r"(block)
      : "memory");
}

// The same with a wider scope, for a control run: everything that the thread has written must first become visible to
// the whole cluster.
__device__ inline void mbarrier_arrive_release_cluster(std::uint64_t& barrier, unsigned block) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n"
      "}" ::"r"(shared_address(&barrier)),
      "r"(block)
      : "memory");
}

// Waits until the phase with this parity has completed. For a new barrier, phase 0 is in progress, and the phase before
// it, of parity 1, counts as completed.
__device__ inline void mbarrier_wait(std::uint64_t& barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred complete;\n"
      "AGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\n"
      "@!complete bra AGAIN;\n"
      "}" ::"r"(shared_address(&barrier)),
      "r"(parity)
      : "memory");
}

// The same for bytes that other blocks of the cluster have stored.
__device__ inline void mbarrier_wait_cluster(std::uint64_t& barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred complete;\n"
      "AGAIN:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 complete, [%0], %1;\n"
      "@!complete bra AGAIN;\n"
      "}" ::"r"(shared_address(&barrier)),
      "r"(parity)
      : "memory");
}

// ---- The Tensor Memory Accelerator (TMA): one thread issues the copy of a box ----

// Loads the map itself into a cache, so that the first copy does not have to wait for it.
__device__ inline void tma_prefetch_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// Loads the box whose first element is in this row and column of the matrix. Its bytes count at the barrier.
__device__ inline void tma_load(void* to, const CUtensorMap& map, int column, int row, std::uint64_t& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          shared_address(to)),
      "l"(&map), "r"(column), "r"(row), "r"(shared_address(&barrier))
      : "memory");
}

// The same for one of several matrices of the same size. Rows past the end of the matrix are filled with zeros.
__device__ inline void tma_load(void* to, const CUtensorMap& map, int column, int row, int matrix,
                                std::uint64_t& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::
          "r"(shared_address(to)),
      "l"(&map), "r"(column), "r"(row), "r"(matrix), "r"(shared_address(&barrier))
      : "memory");
}

// Loads consecutive bytes instead of a box, without a map. Both addresses and the number of bytes are multiples of 16.
__device__ inline void bulk_load(void* to, const void* from, unsigned bytes, std::uint64_t& barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(&barrier))
               : "memory");
}

// A load for all blocks of the cluster in the mask: the box and the count of its bytes go to the same offsets in the
// shared memory of each.
__device__ inline void tma_load_multicast(void* to, const CUtensorMap& map, int column, int row, std::uint64_t& barrier,
                                          std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
      "l"(&map), "r"(column), "r"(row), "r"(shared_address(&barrier)), "h"(blocks)
      : "memory");
}

// Stores a box from shared memory to the matrix, as a bulk group of its own. The policy tells the L2 cache to evict
// these bytes before others.
__device__ inline void tma_store(const CUtensorMap& map, int column, int row, const void* from) {
  std::uint64_t evict_first;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(evict_first));
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint [%0, {%1, %2}], [%3], %4;" ::"l"(&map),
      "r"(column), "r"(row), "r"(shared_address(from)), "l"(evict_first)
      : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until all stores of this thread, except for the last `pending` ones, have read their shared memory. What they
// write becomes visible no later than the end of the kernel.
template <int pending>
__device__ void tma_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}

// The TMA and wgmma access shared memory through the async proxy. What a thread has written with ordinary stores is
// visible to them only after this fence and a barrier.
__device__ inline void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// ---- Clusters ----

__device__ inline unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ inline unsigned cluster_size() {
  unsigned blocks;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  return blocks;
}
// Loads from the same address in the shared memory of a block of the cluster.
__device__ inline float load_from_block(const float* from, unsigned block) {
  float value;
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %1, %2;\n"
      "ld.shared::cluster.f32 %0, [remote];\n"
      "}"
      : "=f"(value)
      : "r"(shared_address(from)), "r"(block)
      : "memory");
  return value;
}
// Stores to the same address in the shared memory of a block of the cluster. The bytes count at that block's barrier.
__device__ inline void store_to_block(float2* to, float2 value, std::uint64_t& barrier, unsigned block) {
  asm volatile(
      "{\n"
      ".reg .b32 remote, remote_barrier;\n"
      "mapa.shared::cluster.u32 remote, %0, %4;\n"
      "mapa.shared::cluster.u32 remote_barrier, %3, %4;\n"
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [remote], {%1, %2}, [remote_barrier];\n"
      "}" ::"r"(shared_address(to)),
      "f"(value.x), "f"(value.y), "r"(shared_address(&barrier)), "r"(block)
      : "memory");
}
__device__ inline void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

}  // namespace hopper
