// Instructions of compute capability 9.0 for which C++ has no syntax, one function each. PTX ISA: "mbarrier",
// "cp.async.bulk.tensor", "wgmma", "stmatrix", "setmaxnreg", "barrier.cluster".
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

// Policies for the L2 cache: which data it evicts first, or last.
__device__ inline std::uint64_t evict_first() {
  std::uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ inline std::uint64_t evict_last() {
  std::uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// The same load with a policy.
__device__ inline void tma_load(void* to, const CUtensorMap& map, int column, int row, std::uint64_t& barrier,
                                std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
      "l"(&map), "r"(column), "r"(row), "r"(shared_address(&barrier)), "l"(policy)
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

// Stores a box from shared memory to the matrix, as a bulk group of its own. Other data in the L2 cache is evicted
// later.
__device__ inline void tma_store(const CUtensorMap& map, int column, int row, const void* from) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint [%0, {%1, %2}], [%3], %4;" ::"l"(&map),
      "r"(column), "r"(row), "r"(shared_address(from)), "l"(evict_first())
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

// ---- wgmma: a warpgroup, four warps, multiplies matrices in shared memory ----

// Describes a matrix of boxes whose rows are 128 bytes, swizzled: its address, the distance to the next box, and the
// distance to the next eight rows, 1024 bytes. The upper bits of a shared address name the block of the cluster and are
// not part of a descriptor.
__device__ inline std::uint64_t matrix_descriptor(const void* boxes, unsigned to_next_box = 8192) {
  constexpr std::uint64_t kSwizzle128 = 1;
  return (shared_address(boxes) & 0x3ffff) >> 4 | std::uint64_t{to_next_box >> 4} << 16 |
         std::uint64_t{1024 >> 4} << 32 | kSwizzle128 << 62;
}

// Orders the threads' accesses to the sums before the next wgmma, which accesses them asynchronously.
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// Makes one group of all instructions since the last commit. A thread can only wait for groups.
__device__ inline void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits for all groups except for the last `pending` ones. Before that, no thread may read the sums or overwrite a or
// b.
template <int pending>
__device__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

// 64 × n sums of 16 products each, n = 2 × the number of sums per thread. `accumulate`: add to the present sums. The
// constants at the end: a (1) and b (1) keep their signs; a is stored by rows (0), b by columns (1), as seen by wgmma,
// which expects the 16 elements of a sum to be contiguous in both.
#define REGISTERS_32                                                       \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define REGISTERS_64                                                                 \
  REGISTERS_32                                                                       \
  ", "                                                                               \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define REGISTERS_128                                                                            \
  REGISTERS_64                                                                                   \
  ", "                                                                                           \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "             \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "             \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define SUMS_4(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define SUMS_16(i) SUMS_4(i), SUMS_4(i + 4), SUMS_4(i + 8), SUMS_4(i + 12)
#define SUMS_32(i) SUMS_16(i), SUMS_16(i + 16)
#define WGMMA(shape, registers, a_register, b_register, accumulate_register, ...)                         \
  asm volatile(                                                                                           \
      "{\n"                                                                                               \
      ".reg .pred accumulate;\n"                                                                          \
      "setp.ne.b32 accumulate, " accumulate_register                                                      \
      ", 0;\n"                                                                                            \
      "wgmma.mma_async.sync.aligned." shape ".f32.bf16.bf16 {" registers "}, " a_register ", " b_register \
      ", accumulate, 1, 1, 0, 1;\n"                                                                       \
      "}"                                                                                                 \
      : __VA_ARGS__                                                                                       \
      : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)))
__device__ inline void wgmma(float (&sums)[32], std::uint64_t a, std::uint64_t b, bool accumulate) {
  WGMMA("m64n64k16", REGISTERS_32, "%32", "%33", "%34", SUMS_32(0));
}
__device__ inline void wgmma(float (&sums)[64], std::uint64_t a, std::uint64_t b, bool accumulate) {
  WGMMA("m64n128k16", REGISTERS_64, "%64", "%65", "%66", SUMS_32(0), SUMS_32(32));
}
__device__ inline void wgmma(float (&sums)[128], std::uint64_t a, std::uint64_t b, bool accumulate) {
  WGMMA("m64n256k16", REGISTERS_128, "%128", "%129", "%130", SUMS_32(0), SUMS_32(32), SUMS_32(64), SUMS_32(96));
}
#undef WGMMA
#undef SUMS_32
#undef SUMS_16
#undef SUMS_4
#undef REGISTERS_128
#undef REGISTERS_64
#undef REGISTERS_32

// ---- Registers, barriers, and stores of fragments ----

// Changes the number of registers of each thread of this warpgroup, which all of its warps must do.
template <int registers>
__device__ void setmaxnreg_increase() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
__device__ void setmaxnreg_decrease() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

// A barrier for some of the block's warps, by number: 0 is __syncthreads(), 1 to 15 are free. It opens when `threads`
// threads have reached it. Those that only arrive do not wait.
__device__ inline void named_barrier_sync(unsigned number, unsigned threads = 128) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
__device__ inline void named_barrier_arrive(unsigned number, unsigned threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

__device__ inline unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ inline void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Stores four matrices of 8 × 8 elements from the registers of a warp. Each lane passes the address of one row.
__device__ inline void stmatrix_x4(void* row, unsigned first, unsigned second, unsigned third, unsigned fourth) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),
               "r"(first), "r"(second), "r"(third), "r"(fourth)
               : "memory");
}

}  // namespace hopper
