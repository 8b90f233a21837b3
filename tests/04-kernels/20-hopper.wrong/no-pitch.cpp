// Rejected with: "rows that are farther apart than they are long"
// The next row is taken to begin where this one ends, rounded up to what the driver accepts.
#include "common/cu.hpp"

CUresult describe(CUtensorMap* map, CUdeviceptr matrix, int rows, int columns, std::size_t pitch, int box_rows,
                  int box_columns, bool swizzled) {
  (void)pitch;
  // The contiguous dimension comes first and has no stride.
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[] = {(columns * sizeof(float) + 15) / 16 * 16};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(box_columns), static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t every[] = {1, 1};
  return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, reinterpret_cast<void*>(matrix), sizes,
                                strides, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
