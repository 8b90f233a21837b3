// What host and kernels agree on: y = x · wᵀ with elements of 8 bits, and the shape of each kernel.
#pragma once
#include "04-kernels/28-hopper-schedule/shape.hpp"
#include "format.hpp"

// A product of x, which has `rows` rows, and w, which has `columns`. The schedule of 04-28 copies elements of 16 bits,
// so two of 8 bits count as one: `inner` is half of the number of products of each sum.
struct Scaled : Product {
  const void *x, *w;  // the elements, for kernels that do not use the maps
  const float *x_scales, *w_scales;
};

// The kernel for mma: four warps compute a tile of 128 × 128, in steps of kBlock products.
struct Tiles {
  static constexpr int kRows = 128, kColumns = 128, kWarpRows = 64, kWarpColumns = 64, kThreads = 128;
  static constexpr int kStages = 3, kBlocks = 2;  // that share a multiprocessor
  static constexpr int kStepBytes = (kRows + kColumns) * kBlock, kBytes = kStages * kStepBytes;
};

// The kernels for wgmma: the schedule of the rung `cluster` of 04-28.
template <Format kElements, Scales kOf>
struct Fast : Transposed<Cluster> {
  static constexpr Format kFormat = kElements;
  static constexpr Scales kScales = kOf;
  static constexpr bool kPromoted = false;  // the sums of each step are added to others in FP32
  static constexpr bool kLoadsScales = true;  // for each step; false in a control run
};
// Each thread has three sums of each element, so that a tile is only half as wide. The number of steps is even.
template <Scales kOf>
struct Promoted : Fast<Format::kE4m3, kOf> {
  static constexpr bool kPromoted = true;
  static constexpr int kColumns = 128, kStages = 6;
};

// A control run, whose results are wrong.
struct NoScales : Promoted<Scales::kBlocks> {
  static constexpr bool kLoadsScales = false;
};

constexpr int kThreadsOfCheck = 256;
