// Elements of 8 bits, and which of them have a scale in common.
#pragma once

enum class Format { kS8, kE4m3 };

// Which elements have a scale in common: all of a matrix, those of a row, or a block of them: 1 × 128 elements of x,
// and 128 × 128 of w.
enum class Scales { kOne, kRows, kBlocks };
constexpr int kBlock = 128;

template <Format kFormat>
constexpr float kLargest = kFormat == Format::kS8 ? 127 : 448;

#ifdef __CUDACC__
#define BOTH __host__ __device__
#else
#define BOTH
#endif

// A matrix to quantize: its elements and its scales. `rows` × `columns`, and for kBlocks how many rows share a scale.
struct Quantized {
  Scales scales;
  int rows, columns, block_rows;

  // The number of scales, and which of them an element has. Blocks of one row are numbered column by column, so that
  // the scales of neighboring rows are neighbors.
  BOTH int count() const {
    if (scales == Scales::kOne) return 1;
    return scales == Scales::kRows ? rows : (rows + block_rows - 1) / block_rows * (columns / kBlock);
  }
  BOTH int scale_of(int row, int column) const {
    if (scales == Scales::kOne) return 0;
    if (scales == Scales::kRows) return row;
    return block_rows == 1 ? column / kBlock * rows + row : row / block_rows * (columns / kBlock) + column / kBlock;
  }
};

// Rows to normalize and to quantize: y = RMSNorm of h = x + residual, and the elements and scales of y. All numbers are
// bfloat16, except for the scales.
struct Normalized {
  const void *x, *residual, *weight;
  void *h, *y;
  unsigned char* elements;
  float* scales;
  int rows, columns;
  float epsilon;
};
constexpr int kThreadsOfRow = 128, kMostColumns = 4096;
