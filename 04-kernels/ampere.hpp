// Tensor-core instructions of compute capability 8.0 and later for which C++ has no syntax, one function each, and the
// layout of the fragments that they multiply. PTX ISA: "mma", "ldmatrix", "cp.async".
#pragma once
#include <cuda_bf16.h>

namespace ampere {

__device__ inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// ---- mma: a warp multiplies 16 × 16 elements by 16 × 8 elements of bfloat16, and adds the products to FP32 sums ----
//
// Lane l is in group g = l / 4 and has position t = l % 4 there. Each register of a and b has two elements that are
// neighbors in k; the first one is:
//
//   a[0]: row g, k = 2t        a[1]: row g + 8, k = 2t        a[2]: row g, k = 2t + 8    a[3]: row g + 8, k = 2t + 8
//   b[0]: column g, k = 2t     b[1]: column g, k = 2t + 8
//   sum[0], sum[1]: row g, columns 2t and 2t + 1              sum[2], sum[3]: the same columns in row g + 8

__device__ inline void mma(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// ---- From sums to memory ----

__device__ inline unsigned packed(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&pair);
}

// Four neighboring lanes exchange vectors of four: afterward, lane t has element t of the four lanes' vectors.
__device__ inline void transpose(unsigned (&v)[4], int lane) {
#pragma unroll
  for (int distance = 1; distance <= 2; ++distance) {
    const bool upper = lane & distance;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i & distance) continue;
      const unsigned theirs = __shfl_xor_sync(0xffffffff, upper ? v[i] : v[i + distance], distance);
      (upper ? v[i] : v[i + distance]) = theirs;
    }
  }
}

// ---- ldmatrix: a warp loads four matrices of 8 × 8 elements, one into each register ----
//
// Lanes 0 to 7 pass the addresses of the rows of the first matrix, 16 bytes each; lanes 8 to 15 those of the second,
// and so on. Afterward, lane l has two neighboring elements of row l / 4 of each matrix. With .trans, it has two
// neighboring elements of column l / 4 instead.

// The registers of one fragment of a:
__device__ inline void ldmatrix_x4(unsigned (&to)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}

// The registers of two fragments of b, whose elements are neighbors in memory if they are neighbors in k:
__device__ inline void ldmatrix_x4(unsigned (&to)[2][2], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0][0]), "=r"(to[0][1]), "=r"(to[1][0]), "=r"(to[1][1])
               : "r"(row)
               : "memory");
}

// The same, if the elements of a row of a, or of a column of b, are in different rows in memory:
__device__ inline void ldmatrix_x4_trans(unsigned (&to)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}
__device__ inline void ldmatrix_x4_trans(unsigned (&to)[2][2], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0][0]), "=r"(to[0][1]), "=r"(to[1][0]), "=r"(to[1][1])
               : "r"(row)
               : "memory");
}

// Stores one register in shared memory, at an address as ldmatrix uses it.
__device__ inline void store_shared(unsigned to, unsigned value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(value) : "memory");
}

// ---- cp.async: a thread copies 16 bytes from global to shared memory without using registers ----

__device__ inline void cp_async(unsigned to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

// The same if `inside`, and otherwise 16 zero bytes: nothing is read then, but `from` must be a valid address.
__device__ inline void cp_async_or_zero(unsigned to, const void* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
}

// Combines the thread's copies since the last call into a group.
__device__ inline void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until at most kPending of the thread's groups, the latest, are still in progress.
template <int kPending>
__device__ inline void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace ampere
