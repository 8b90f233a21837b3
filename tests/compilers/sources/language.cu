// Kernels of language.h, and what threads do together without a header's help. For nvcc, NVRTC and clang.
#ifdef WITHOUT_CUDA_HEADERS
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define THREAD __nvvm_read_ptx_sreg_tid_x()
#define BLOCK __nvvm_read_ptx_sreg_ctaid_x()
#define THREADS __nvvm_read_ptx_sreg_ntid_x()
extern "C" __device__ void __cxa_pure_virtual() {}
#else
#define THREAD threadIdx.x
#define BLOCK blockIdx.x
#define THREADS blockDim.x
#endif
#define SHARED_BY_BOTH __device__ inline
#include "language.h"

using language::u32;
using language::u64;

#define KERNEL(name)                                                    \
  extern "C" __global__ void name(const u32* in, u64* out, u32 count) { \
    const u32 i = BLOCK * THREADS + THREAD;                             \
    if (i < count) out[i] = language::name(in[i]);                      \
  }
KERNEL(templates)
KERNEL(integers)
KERNEL(wide)
#ifndef WITHOUT_WIDE_DIVISION
KERNEL(wide_division)
#endif
KERNEL(structures)
KERNEL(recursion)
KERNEL(pointers)
KERNEL(virtuals)
KERNEL(control)
KERNEL(local_arrays)
KERNEL(exact_floats)
KERNEL(mixed)

__constant__ u32 weights[32] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3,
                                2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5};
__device__ u64 total = 40;
__device__ u32* cell_of_table[2];
__device__ u32 cells[2] = {11, 13};
__device__ u32* const first_cell = &cells[0];

// A block's threads through shared memory: reversal, a tree of sums, a scan by one thread.
extern "C" __global__ void together(const u32* in, u64* out, u32 count) {
  __shared__ u32 values[256];
  __shared__ struct {
    u64 sum;
    u32 most;
  } result;
  const u32 i = BLOCK * THREADS + THREAD;
  values[THREAD] = i < count ? in[i] * weights[THREAD % 32] : 0;
  __syncthreads();
  const u32 mirrored = values[THREADS - 1 - THREAD];
  __syncthreads();
  for (u32 step = THREADS / 2; step > 0; step /= 2) {
    if (THREAD < step) values[THREAD] += values[THREAD + step];
    __syncthreads();
  }
  if (THREAD == 0) {
    result.sum = values[0] + total + *first_cell;
    result.most = values[0] > mirrored ? values[0] : mirrored;
    cell_of_table[0] = &cells[1];
  }
  __syncthreads();
  if (i < count) out[i] = result.sum * 3 + result.most + mirrored + *cell_of_table[0];
}
