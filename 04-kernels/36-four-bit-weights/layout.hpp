// Where the weights are: eight neighbors in a row are a word, and the words are plain, row after row, or shuffled.
#pragma once
#include "shape.hpp"

#include <cuda_bf16.h>

#include <cstddef>

// Bits 4 i to 4 i + 3 of a word belong to column 2 i, and bits 4 i + 16 to 4 i + 19 to column 2 i + 1.
__device__ inline int bit_of(int column) { return column % 8 / 2 * 4 + column % 2 * 16; }

__device__ inline std::size_t plain_word(int row, int column, int columns) {
  return static_cast<std::size_t>(row) * (columns / 8) + column / 8;
}

// A lane needs 8 words of a unit, which are kTile rows of a group: for each 32 columns, the word of row lane / 4, and
// the word 8 rows below. Shuffled, four of its words are neighbors.
__device__ inline std::size_t unit_of(int tile, int group, int columns) {
  return static_cast<std::size_t>(tile) * (columns / kGroup) + group;
}
__device__ inline std::size_t shuffled_word(int row, int column, int columns) {
  const int lane = row % 8 * 4 + column % 32 / 8, word = column % kGroup / 32 * 2 + row % kTile / 8;
  return unit_of(row / kTile, column / kGroup, columns) * kUnitWords + (word / 4 * 32 + lane) * 4 + word % 4;
}
__device__ inline std::size_t scale_of(int row, int column, int columns) {
  return unit_of(row / kTile, column / kGroup, columns) * kTile + row % 8 * 2 + row % kTile / 8;
}

// Quantizes weights in bfloat16, a thread for each word and 16 threads for each group of a row. Stores the words in
// both layouts, and replaces the weights by what is left of them.
extern "C" __global__ void quantize(__nv_bfloat16* weights, unsigned* plain, unsigned* shuffled, __nv_bfloat16* scales,
                                    int rows, int columns) {
  const std::size_t at = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t last = static_cast<std::size_t>(rows) * columns / 8 - 1, word = min(at, last);
  const int row = static_cast<int>(word / (columns / 8)), column = static_cast<int>(word % (columns / 8)) * 8;
  float largest = 0;
  for (int i = 0; i < 8; ++i) largest = fmaxf(largest, fabsf(__bfloat162float(weights[8 * word + i])));
  for (int d = 1; d < kGroup / 8; d *= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, d));
  const __nv_bfloat16 scale = __float2bfloat16_rn(largest / 7);
  const float factor = __bfloat162float(scale);
  unsigned bits = 0;
  __nv_bfloat16 left[8];
  for (int i = 0; i < 8; ++i) {
    const float ratio = factor > 0 ? __bfloat162float(weights[8 * word + i]) / factor : 0;
    const int q = min(max(__float2int_rn(ratio) + 8, 0), 15);
    bits |= static_cast<unsigned>(q) << bit_of(i);
    left[i] = __float2bfloat16_rn(static_cast<float>(q - 8) * factor);
  }
  if (at > last) return;
  for (int i = 0; i < 8; ++i) weights[8 * word + i] = left[i];
  plain[word] = bits, shuffled[shuffled_word(row, column, columns)] = bits;
  scales[scale_of(row, column, columns)] = scale;  // 16 threads store the same number
}
