// Loads one box with the TMA and copies it out as stored in shared memory.
#include <cuda.h>

#include <cstdint>

extern "C" __global__ void fetch(const __grid_constant__ CUtensorMap map, int column, int row, int bytes, char* out) {
  __shared__ __align__(1024) char box[16384];
  __shared__ std::uint64_t full;
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(box)),
                 barrier = static_cast<unsigned>(__cvta_generic_to_shared(&full));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
            to),
        "l"(&map), "r"(column), "r"(row), "r"(barrier)
        : "memory");
  }
  __syncthreads();
  // Bounded: if the box is too small, fewer bytes arrive than the barrier expects.
  int there = 0;
  for (int turn = 0; turn < 100000 && !there; ++turn) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], 0;\n"
        "selp.s32 %0, 1, 0, done;\n"
        "}"
        : "=r"(there)
        : "r"(barrier)
        : "memory");
  }
  for (int i = threadIdx.x; i < bytes && there; i += blockDim.x) out[i] = box[i];
}
