// Rejected with: "a matrix that is not square"
// Rows come first in C++; in a tensor map, the contiguous dimension does.
#include "common/cu.hpp"

CUresult describe(CUtensorMap* map, CUdeviceptr matrix, int rows, int columns, std::size_t pitch, int box_rows,
                  int box_columns, bool swizzled) {
  // The contiguous dimension comes first and has no stride.
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(rows), static_cast<cuuint64_t>(columns)};
  const cuuint64_t strides[] = {pitch};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(box_columns), static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t every[] = {1, 1};
  return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, reinterpret_cast<void*>(matrix), sizes,
                                strides, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
