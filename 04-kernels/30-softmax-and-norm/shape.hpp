// How the lesson's kernels distribute rows over threads. Included by the kernels and by the host.
#pragma once

// One launch. All matrices have rows × columns elements of one type, row after row, and are aligned to 16 bytes.
//
//   softmax            y = the softmax of each row of x
//   softmax_backward   dx from y and dy
//   rms_norm           h = x + residual, y = h / sqrt(mean of h² + epsilon) · weight
//   rms_norm_backward  dx from h, weight and dy, plus dh, what h receives through other paths; and the blocks' parts of
//                      the weight's gradient
struct Rows {
  const void *x, *residual, *weight;
  void *y, *h;
  const void *dy, *dh;
  void* dx;
  float* parts;  // of the weight's gradient: a row of `columns` floats for each group of blocks that shares rows
  int rows, columns;
  float epsilon;
};

// The threads that share a row, and the vectors of 16 bytes that each of them keeps in its registers. A row may be
// distributed over the blocks of a cluster, up to kMostBlocks.
struct Shape {
  const char* name;
  int threads, vectors, rows;  // threads of a row in one block, vectors of a thread, rows of a block
  bool clustered, aligned;     // whether each row must be aligned to 16 bytes
  bool ahead;  // whether a block computes several rows, and copies the next one to shared memory meanwhile
  constexpr int bytes() const { return 16 * threads * vectors; }  // of a row, in one block
};
constexpr int kMostBlocks = 8;
constexpr Shape kWarp = {"warp", 32, 4, 4, false, true, false};
constexpr Shape kTwoWarps = {"two_warps", 64, 4, 1, false, true, false};
constexpr Shape kSmall = {"small", 128, 4, 1, false, true, false};
constexpr Shape kMedium = {"medium", 256, 4, 1, false, true, false};
constexpr Shape kLarge = {"large", 512, 4, 1, false, true, false};
constexpr Shape kWhole = {"whole", 512, 8, 1, false, true, false};
constexpr Shape kCluster = {"cluster", 512, 8, 1, true, true, false};
constexpr Shape kAhead = {"ahead", 512, 4, 1, true, true, true};
constexpr Shape kAheadLong = {"ahead_long", 512, 8, 1, true, true, true};
constexpr Shape kAnywhere = {"anywhere", 512, 8, 1, true, false, false};

// The same for rms_norm_backward, in which each element also needs a sum in FP32.
constexpr Shape kSumTiny = {"tiny", 128, 1, 1, false, true, true};
constexpr Shape kSumSmall = {"small", 256, 1, 1, false, true, true};
constexpr Shape kSumMedium = {"medium", 256, 2, 1, false, true, true};
constexpr Shape kSumLarge = {"large", 512, 2, 1, false, true, true};
constexpr Shape kSumAhead = {"ahead", 512, 4, 1, true, true, true};
constexpr Shape kSumAheadLong = {"ahead_long", 512, 8, 1, true, true, true};
template <int kSize>  // bytes of an element
constexpr Shape kSumAnywhere = {"anywhere", 512, 2 * kSize, 1, true, false, false};

// The matrices that a kernel loads row by row.
constexpr int kSoftmaxInputs = 1, kSoftmaxBackwardInputs = 2, kRmsNormInputs = 2, kRmsNormBackwardInputs = 3;

constexpr int kThreads = 256;  // of a block in the kernels that keep nothing in registers
constexpr int kSumColumns = 32, kSumRows = 32;  // of a block that adds the parts of the weight's gradient
