// Fills the matrices, computes the product in double precision, and compares all elements of a result with it.
#pragma once
#include "04-kernels/random.hpp"
#include "shape.hpp"

#include <cuda_bf16.h>

#include <cstddef>

// What the elements are: integers from -3 to 3, but each row is multiplied by 1, 2, 4 or 8; random normals; normals,
// but each row is multiplied by a power of two from 2^-8 to 2^7; or normals, but one column out of 512 is multiplied by
// 100.
enum class Values { kIntegers, kNormals, kRows, kColumns };

extern "C" __global__ void fill(__nv_bfloat16* matrix, int rows, int columns, unsigned seed, Values values) {
  const std::size_t count = std::size_t(rows) * columns, threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) {
    const unsigned bits = verify::hash(static_cast<unsigned>(i) ^ seed);
    const int row = static_cast<int>(i / columns), column = static_cast<int>(i % columns);
    float value =
        values == Values::kIntegers ? static_cast<float>(static_cast<int>(bits % 7) - 3) : verify::normal(bits);
    if (values == Values::kIntegers) value *= static_cast<float>(1 << (row + row / 8) % 4);
    if (values == Values::kRows) value *= exp2f(static_cast<float>(row % 16 - 8));
    if (values == Values::kColumns && column % 512 == 7) value *= 100;
    matrix[i] = __float2bfloat16_rn(value);
  }
}

// An element of the product in double precision, and how large it typically is: the length of x's row times that of
// w's, divided by the root of the number of products.
struct Exact {
  double sum;
  float typical;
};

// A block of 256 threads computes 64 × 64 elements, 4 × 4 in each thread.
extern "C" __global__ void __launch_bounds__(kThreadsOfCheck)
    reference(const __nv_bfloat16* x, const __nv_bfloat16* w, Exact* exact, int columns, int inner) {
  constexpr int kSide = 64, kDepth = 16, kEach = 4, kAcross = kSide / kEach;
  __shared__ float tile_x[kDepth][kSide + 1], tile_w[kDepth][kSide + 1];
  const int across = threadIdx.x % kAcross, down = threadIdx.x / kAcross;
  const int top = blockIdx.y * kSide, left = blockIdx.x * kSide;
  double sum[kEach][kEach] = {};
  float squares_x[kEach] = {}, squares_w[kEach] = {};
  for (int first = 0; first < inner; first += kDepth) {
    for (int i = threadIdx.x; i < kSide * kDepth; i += kThreadsOfCheck) {
      const int row = i / kDepth, k = i % kDepth;
      tile_x[k][row] = __bfloat162float(x[std::size_t(top + row) * inner + first + k]);
      tile_w[k][row] = __bfloat162float(w[std::size_t(left + row) * inner + first + k]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float of_x[kEach], of_w[kEach];
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        of_x[i] = tile_x[k][down * kEach + i], of_w[i] = tile_w[k][across + i * kAcross];
        squares_x[i] += of_x[i] * of_x[i], squares_w[i] += of_w[i] * of_w[i];
      }
#pragma unroll
      for (int i = 0; i < kEach * kEach; ++i) {
        sum[i / kEach][i % kEach] += static_cast<double>(of_x[i / kEach] * of_w[i % kEach]);  // exact in FP32
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kEach * kEach; ++i) {
    const int row = top + down * kEach + i / kEach, column = left + across + i % kEach * kAcross;
    const float square = squares_x[i / kEach] * squares_w[i % kEach];
    exact[std::size_t(row) * columns + column] = {sum[i / kEach][i % kEach], sqrtf(square / static_cast<float>(inner))};
  }
}

// What a comparison finds: how many elements are not the exact ones, rounded to bfloat16; and the sum of the squares of
// all errors, relative to the typical size of the element.
struct Found {
  unsigned long long different;
  double squares;
};
extern "C" __global__ void compare(const __nv_bfloat16* y, const Exact* exact, std::size_t count, Found* found) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  double squares = 0;
  unsigned different = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) {
    const float value = __bfloat162float(y[i]);
    const double error = (value - exact[i].sum) / exact[i].typical;
    different += value != __bfloat162float(__double2bfloat16(exact[i].sum));
    squares += error * error;
  }
  for (int d = 1; d < 32; d *= 2) {
    squares += __shfl_xor_sync(0xffffffff, squares, d), different += __shfl_xor_sync(0xffffffff, different, d);
  }
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(&found->squares, squares);
  if (different > 0) atomicAdd(&found->different, different);
}
