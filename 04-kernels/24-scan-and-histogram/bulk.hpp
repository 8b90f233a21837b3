// Bulk copies and mbarriers: instructions of compute capability 9.0 for which C++ has no syntax, one function each.
// PTX ISA: "mbarrier", "cp.async.bulk".
#pragma once

using u64 = unsigned long long;

__device__ inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// An mbarrier is a 64-bit word in shared memory that counts arrivals, and bytes that a copy still has to deliver. When
// nothing is left to count, its phase ends, and the next one begins. A phase is identified by its parity: 0, 1, 0 …
__device__ inline void mbarrier_init(u64& barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)), "r"(arrivals) : "memory");
}

// Makes initialized barriers visible to the TMA unit.
__device__ inline void fence_mbarrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ inline void mbarrier_arrive(u64& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier)) : "memory");
}

// Arrives, and announces the bytes that must be delivered before the phase ends.
__device__ inline void mbarrier_arrive_expect(u64& barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)), "r"(bytes)
               : "memory");
}

// Waits until the phase with this parity has ended. For a new barrier, the phase before the first one, with parity 1,
// counts as ended.
__device__ inline void mbarrier_wait(u64& barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred ended;\n"
      "AGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
      "@!ended bra AGAIN;\n"
      "}" ::"r"(shared_address(&barrier)),
      "r"(parity)
      : "memory");
}

// Starts a copy from global to shared memory. It signals the barrier when its bytes have arrived. Addresses and size
// are multiples of 16.
__device__ inline void bulk_load(void* to, const void* from, unsigned bytes, u64& barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(&barrier))
               : "memory");
}
