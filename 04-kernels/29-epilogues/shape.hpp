// What host and kernels agree on: the shapes of the kernels, and what they compute.
#pragma once
#include "04-kernels/25-tensor-cores/shape.hpp"

// For products of many rows: the fastest kernel of 04-25, with as many stages as fit into the device's shared memory.
template <int kCount>
using Full = Ahead<kCount>;

// For products of a few rows: four warps compute a tile of up to 16 or 64 rows and 128 columns.
template <int kMostRows, int kCount>
struct Thin : Ahead<kCount> {
  static constexpr int kRows = kMostRows, kColumns = 128, kWarpRows = kMostRows, kWarpColumns = 32, kBlocks = 1;
  static constexpr bool kThin = true;
};

using Thin16 = Thin<16, 5>;
using Thin64 = Thin<64, 4>;

// For the exercise: tiles of 64 × 64, and any number of steps.
struct Few : Small {
  static constexpr bool kThin = true;
};

// A product and what its epilogue needs.
struct Linear : Product {
  const void* bias;      // `columns` elements
  const void* residual;  // rows × columns elements
  float* partial;        // sums of tiles that several blocks share: two tiles for each block
  unsigned* finished;    // for each tile, how many blocks have stored their sums; 0 before and after a launch
};

// c = f(a × b)
enum class Epilogue { kNone, kBiasGelu, kResidual, kSwiGlu };
