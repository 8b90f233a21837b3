// Instructions of compute capability 9.0 that C++ has no words for, one function each. PTX ISA: "mbarrier",
// "cp.async.bulk.tensor", "wgmma", "barrier.cluster", "stmatrix".
#pragma once
#include <cuda.h>

#include <cstdint>

namespace hopper {

__device__ inline unsigned shared(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// ---- mbarrier: a word of shared memory that counts arrivals and bytes ----
//
// A phase ends when all of both are there, and the next one begins. Of a phase's number the barrier knows only whether
// it is odd, its parity: 0, 1, 0, 1 … So nobody who waits may be more than one phase behind.

__device__ inline void init(std::uint64_t& barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(&barrier)), "r"(arrivals) : "memory");
}

// After init: the copy engine and the other blocks of the cluster must see the barriers, too.
__device__ inline void publish_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// An arrival that says how many bytes are still to come in this phase.
__device__ inline void expect(std::uint64_t& barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&barrier)), "r"(bytes) : "memory");
}

// An arrival at the same barrier of a block of the cluster. It says that something has been read, so nothing written
// has to be made visible: with .release.cluster, the compiler would put a fence of the whole device in front of it.
__device__ inline void arrive(std::uint64_t& barrier, unsigned block) {
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
      "}" ::"r"(shared(&barrier)),
      "r"(block)
      : "memory");
}

// Waits until the phase with this parity has ended. A new barrier is in phase 0, and the one before it, of parity 1,
// counts as ended: to wait for that returns at once.
__device__ inline void wait(std::uint64_t& barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "AGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra AGAIN;\n"
      "}" ::"r"(shared(&barrier)),
      "r"(parity)
      : "memory");
}

// ---- copies of boxes: asked for by one thread, made by the copy engine ----

// The box whose first number is in this row and column of the matrix. Its bytes count at the barrier.
__device__ inline void fetch(void* to, const CUtensorMap& map, int column, int row, std::uint64_t& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          shared(to)),
      "l"(&map), "r"(column), "r"(row), "r"(shared(&barrier))
      : "memory");
}

// The same for all blocks of the cluster in the mask, each to the same place in its own shared memory.
__device__ inline void fetch_for_all(void* to, const CUtensorMap& map, int column, int row, std::uint64_t& barrier,
                                     std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared(to)),
      "l"(&map), "r"(column), "r"(row), "r"(shared(&barrier)), "h"(blocks)
      : "memory");
}

__device__ inline void store(const CUtensorMap& map, int column, int row, const void* from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(column),
               "r"(row), "r"(shared(from))
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until shared memory has been read by all stores of this thread but the last `left`.
template <int left>
__device__ void wait_until_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(left) : "memory");
}
__device__ inline void wait_until_stored() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

// What this thread has written to shared memory is there for the copy engine and the tensor cores, after a barrier.
__device__ inline void publish() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// ---- wgmma: a warpgroup, four warps, multiplies what lies in shared memory ----

// A matrix made of boxes with rows of 128 bytes that are swizzled: where it begins, and how far it is to the next eight
// rows, 1024 bytes, and to the next box. In a cluster, the upper bits of an address name the block; they have no place
// here.
__device__ inline std::uint64_t matrix(const void* boxes, unsigned to_next_box = 8192) {
  constexpr std::uint64_t kSwizzle128 = 1;
  return (shared(boxes) & 0x3ffff) >> 4 | std::uint64_t{to_next_box >> 4} << 16 | std::uint64_t{1024 >> 4} << 32 |
         kSwizzle128 << 62;
}

// Before the first multiplication, and whenever the threads have used the sums: the tensor cores work on their own, and
// must not touch these registers before the threads have done with them.
__device__ inline void begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// What has been asked for since the last commit is one group; only groups can be waited for.
__device__ inline void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits for all groups but the last `left`: until then nobody may read the sums, or put anything else where a and b
// lie.
template <int left>
__device__ void finish() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
}

// 64 × 256 sums of 16 products each: a has its 16 side by side in a row, b its 256. `add`: to what the sums are.
// The numbers at the end: neither a (1) nor b (1) changes its sign; a's rows lie as wgmma wants them (0), b is turned
// (1), for wgmma would have the 16 numbers of a sum side by side there, too.
#define TWO(i) "+f"(sums[i]), "+f"(sums[i + 1])
#define EIGHT(i) TWO(i), TWO(i + 2), TWO(i + 4), TWO(i + 6)
#define SUMS_32(i) EIGHT(i), EIGHT(i + 8), EIGHT(i + 16), EIGHT(i + 24)
__device__ inline void multiply(float (&sums)[128], std::uint64_t a, std::uint64_t b, bool add) {
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
      "}, %128, %129, add, 1, 1, 0, 1;\n"
      "}"
      : SUMS_32(0), SUMS_32(32), SUMS_32(64), SUMS_32(96)
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
#undef SUMS_32
#undef EIGHT
#undef TWO

// ---- and the rest ----

// A barrier of a warpgroup, by number: 1 to 15.
__device__ inline void meet(unsigned number) { asm volatile("bar.sync %0, 128;" ::"r"(number) : "memory"); }

__device__ inline unsigned block_of_cluster() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ inline void meet_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Four matrices of 8 × 8 numbers from the registers of a warp; each lane says where one row is to lie.
__device__ inline void put(void* row, unsigned first, unsigned second, unsigned third, unsigned fourth) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared(row)), "r"(first),
               "r"(second), "r"(third), "r"(fourth)
               : "memory");
}

}  // namespace hopper
