// Describe a matrix to the copy engine.
#include "common/cu.hpp"

// Makes a map of a matrix of floats: `rows` rows of `columns` numbers, each row `pitch` bytes after the one before. The
// boxes that are fetched with it have `box_rows` rows of `box_columns` numbers; with `swizzled`, they are laid into
// shared memory in the pattern of 128 bytes, else row after row. What a box has outside of the matrix becomes 0.
// Returns what the driver answers.
CUresult describe(CUtensorMap* map, CUdeviceptr matrix, int rows, int columns, std::size_t pitch, int box_rows,
                  int box_columns, bool swizzled) {
  // The dimension whose numbers lie side by side comes first, and has no stride of its own.
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[] = {pitch};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(box_columns), static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t every[] = {1, 1};
  return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, reinterpret_cast<void*>(matrix), sizes,
                                strides, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
