// The instruction wgmma: how many cycles it takes, and three products c = a × b that use it.
#include "04-kernels/clock.hpp"
#include "04-kernels/verify.hpp"
#include "shape.hpp"

#include <cstdint>

// ---- The instruction alone ----

// Writes `rows` × 64 elements to boxes. With `kMajor` K, the rows of a box are those of the matrix; otherwise they are
// its columns.
template <hopper::Major kMajor>
__device__ void put(Box* boxes, const float* elements, int rows) {
  for (int i = threadIdx.x; i < rows * kBox; i += kGroup) {
    const int first = i / kBox % kBox, k = i % kBox;
    const int row = kMajor == hopper::Major::kK ? first : k, column = kMajor == hopper::Major::kK ? k : first;
    *reinterpret_cast<__nv_bfloat16*>(boxes[i / (kBox * kBox)] + swizzled(row, column / 8) + column % 8 * 2) =
        __float2bfloat16_rn(elements[i]);
  }
}

// Executes 4 × `repeats` instructions, which multiply the same 64 × 64 elements of a by 64 × n elements of b again and
// again. n is twice the number of sums of a thread.
template <int kSums, hopper::Major kB, bool kInRegisters>
__device__ void repeat(const float* a_and_b, int repeats, float* to, long long* cycles) {
  extern __shared__ __align__(1024) Box boxes[];
  put<hopper::Major::kK>(boxes, a_and_b, kBox);
  put<kB>(boxes + 1, a_and_b + kBox * kBox, 2 * kSums);
  hopper::fence_proxy_async();
  __syncthreads();
  unsigned a[4][4];  // the thread's fragments of a, if the instruction takes a from registers
  if constexpr (kInRegisters) {
    const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
    for (int k = 0; k < 4; ++k) {
      for (int i = 0; i < 4; ++i) {
        const int at = swizzled(row + i % 2 * 8, 2 * k + i / 2) + lane % 4 * 4;
        a[k][i] = *reinterpret_cast<const unsigned*>(boxes[0] + at);
      }
    }
  }
  float sums[kSums] = {};
  const long long start = clock64();
  for (int i = 0; i < repeats; ++i) {
    hopper::wgmma_fence();
    if constexpr (kInRegisters) {
      const std::uint64_t matrix_b = hopper::matrix_descriptor(boxes + 1);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        hopper::wgmma<kB>(sums, a[k], matrix_b + (kB == hopper::Major::kK ? 2 : 128) * k, true);
      }
    } else {
      multiply<kB>(sums, boxes, boxes + 1, true);
    }
    hopper::wgmma_commit();
    hopper::wgmma_wait<1>();
  }
  hopper::wgmma_wait<0>();
  if (threadIdx.x == 0) *cycles = clock64() - start;
  for (int i = 0; i < kSums; ++i) to[i * kGroup + threadIdx.x] = sums[i];
}

#define REPEAT(name, ...)                                                     \
  extern "C" __global__ void __launch_bounds__(kGroup)                        \
      name(const float* a_and_b, int repeats, float* to, long long* cycles) { \
    repeat<__VA_ARGS__>(a_and_b, repeats, to, cycles);                        \
  }
REPEAT(n16, 8, hopper::Major::kK, false)
REPEAT(n64, 32, hopper::Major::kK, false)
REPEAT(n128, 64, hopper::Major::kK, false)
REPEAT(n256, 128, hopper::Major::kK, false)
REPEAT(n256_mn, 128, hopper::Major::kMN, false)
REPEAT(n16_registers, 8, hopper::Major::kK, true)
REPEAT(n64_registers, 32, hopper::Major::kK, true)
REPEAT(n256_registers, 128, hopper::Major::kK, true)

// ---- Products: a block of one warpgroup computes 64 rows and kColumns columns of c ----

// `narrow` and `wide`: the threads load boxes of a and b with 128-bit loads, and store them swizzled in shared memory.
template <int kColumns>
__device__ void threads_load(const Product& p) {
  extern __shared__ __align__(1024) Box boxes[];
  constexpr int kBoxes = 1 + kColumns / kBox, kEach = kBoxBytes / 16 / kGroup;  // vectors of a box per thread
  const int across = p.n / kColumns, row = blockIdx.x / across * kBox, column = blockIdx.x % across * kColumns;
  float sums[kColumns / 2];
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
    multiply<hopper::Major::kMN>(sums, boxes, boxes + 1, k > 0);
    hopper::wgmma_commit();
    hopper::wgmma_wait<0>();
    __syncthreads();
  }
  store_directly(sums, static_cast<__nv_bfloat16*>(p.c) + static_cast<std::size_t>(row) * p.n + column, p.n);
}

extern "C" __global__ void __launch_bounds__(kGroup) narrow(const __grid_constant__ Product p) {
  threads_load<kNarrow>(p);
}
extern "C" __global__ void __launch_bounds__(kGroup) wide(const __grid_constant__ Product p) { threads_load<kWide>(p); }

// `tma` and `k_major`: one thread issues TMA loads of the boxes. If b is stored by columns, its boxes are K-major.
template <hopper::Major kB>
__device__ void tma_loads(const Product& p) {
  extern __shared__ __align__(1024) Box boxes[];
  __shared__ std::uint64_t full;
  constexpr int kBoxes = 1 + kWide / kBox;
  const int across = p.n / kWide, row = blockIdx.x / across * kBox, column = blockIdx.x % across * kWide;
  if (threadIdx.x == 0) {
    hopper::mbarrier_init(full, 1);
    hopper::fence_mbarrier_init();
  }
  __syncthreads();
  float sums[kWide / 2];
  for (int k = 0, step = 0; k < p.n; k += kBox, ++step) {
    if (threadIdx.x == 0) {
      hopper::mbarrier_arrive_expect_tx(full, kBoxes * kBoxBytes);
      hopper::tma_load(boxes[0], p.map_a, k, row, full);
      for (int i = 0; i < kBoxes - 1; ++i) {
        const int at = column + i * kBox;
        const bool k_major = kB == hopper::Major::kK;
        hopper::tma_load(boxes[1 + i], p.map_b, k_major ? k : at, k_major ? at : k, full);
      }
    }
    hopper::mbarrier_wait(full, step % 2);
    hopper::wgmma_fence();
    multiply<kB>(sums, boxes, boxes + 1, k > 0);
    hopper::wgmma_commit();
    hopper::wgmma_wait<0>();
    __syncthreads();
  }
  store_directly(sums, static_cast<__nv_bfloat16*>(p.c) + static_cast<std::size_t>(row) * p.n + column, p.n);
}

extern "C" __global__ void __launch_bounds__(kGroup) tma(const __grid_constant__ Product p) {
  tma_loads<hopper::Major::kMN>(p);
}
extern "C" __global__ void __launch_bounds__(kGroup) k_major(const __grid_constant__ Product p) {
  tma_loads<hopper::Major::kK>(p);
}
