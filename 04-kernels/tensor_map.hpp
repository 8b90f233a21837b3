// Describes matrices to the TMA.
#pragma once
#include "04-kernels/boxes.hpp"
#include "common/cu.hpp"

#include <algorithm>

// A matrix of bfloat16, `rows` × `columns`, stored row by row: where its rows are, the box to copy, and how the box is
// arranged in shared memory.
inline CUtensorMap map_of(CUdeviceptr matrix, int rows, int columns, int box_rows = kBox,
                          CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B) {
  CUtensorMap map;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};  // columns first
  const cuuint64_t pitch[] = {sizes[0] * 2};                                                     // in bytes
  const cuuint32_t box[] = {kBox, static_cast<cuuint32_t>(box_rows)}, strides[] = {1, 1};
  CU_CHECK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, reinterpret_cast<void*>(matrix), sizes,
                                  pitch, box, strides, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                  CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

// `count` matrices of `rows` × `columns` elements, one after the other. A box has rows of one matrix only.
inline CUtensorMap map_of_matrices(const void* matrices, int count, int rows, int columns, int box_rows) {
  CUtensorMap map;
  // If there are no rows, nothing is loaded, but a map must have at least one.
  const cuuint64_t sizes[] = {cuuint64_t(columns), cuuint64_t(std::max(rows, 1)), cuuint64_t(count)};
  const cuuint64_t pitches[] = {sizes[0] * 2, sizes[0] * sizes[1] * 2};  // in bytes
  const cuuint32_t box[] = {kBox, cuuint32_t(box_rows), 1}, strides[] = {1, 1, 1};
  CU_CHECK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, const_cast<void*>(matrices), sizes,
                                  pitches, box, strides, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                  CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}
