// Describe a matrix to the copy engine.
#include "common/cu.hpp"

// Makes a map of a matrix of floats: `rows` rows of `columns` numbers, each row `pitch` bytes after the one before. The
// boxes that are fetched with it have `box_rows` rows of `box_columns` numbers; with `swizzled`, they are laid into
// shared memory in the pattern of 128 bytes, else row after row. What a box has outside of the matrix becomes 0.
// Returns what the driver answers.
CUresult describe(CUtensorMap* map, CUdeviceptr matrix, int rows, int columns, std::size_t pitch, int box_rows,
                  int box_columns, bool swizzled) {
  // Your code here.
  (void)map, (void)matrix, (void)rows, (void)columns, (void)pitch, (void)box_rows, (void)box_columns, (void)swizzled;
  return CUDA_ERROR_UNKNOWN;
}
