// The parts of a product on tensor cores: tiles in shared memory, fragments in registers, sums.
#pragma once
#include "04-kernels/ampere.hpp"
#include "shape.hpp"

#include <cstdint>

// The offset of a vector of 16 bytes in a tile whose rows have `row_bytes`. Swizzled, the vectors of each group of
// eight are permuted differently in eight consecutive rows, so that the same vector of these rows is in all 32 banks.
template <class S>
__device__ int offset(int row, int vector, int row_bytes) {
  return row * row_bytes + (S::kSwizzled ? vector ^ row % 8 : vector) * kVectorBytes;
}

constexpr int kMma = 16;  // the mma instruction multiplies 16 rows, 16 deep, by 8 columns

// A warp's operands for one mma of each of its sums.
template <class S>
struct Fragments {
  static constexpr int kDown = S::kWarpRows / kMma, kAcross = S::kWarpColumns / kMma;
  unsigned a[kDown][4];
  unsigned b[kAcross][2][2];  // 16 columns each
};

// The sums of the part of c that a warp computes.
template <class S>
struct Sums {
  static constexpr int kDown = S::kWarpRows / kMma, kAcross = S::kWarpColumns / kMma;
  float at[kDown][kAcross][2][4] = {};
};

template <class S>
__device__ void multiply(Sums<S>& sums, const Fragments<S>& from) {
#pragma unroll
  for (int i = 0; i < sums.kDown; ++i) {
#pragma unroll
    for (int step = 0; step < 2 * sums.kAcross; ++step) {
      const int j = i % 2 == 0 ? step : 2 * sums.kAcross - 1 - step;
      ampere::mma(sums.at[i][j / 2][j % 2], from.a[i], from.b[j / 2][j % 2]);
    }
  }
}

// A thread's place in its block.
template <class S>
struct Place {
  static constexpr int kWarpsAcross = S::kColumns / S::kWarpColumns;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = warp / kWarpsAcross * S::kWarpRows, column = warp % kWarpsAcross * S::kWarpColumns;  // of its part
};

// `mma`: loads each register of the fragments separately. In memory, two elements of b that are neighbors in k are in
// two rows, so each takes a load of 16 bits.
template <class S>
__device__ void load_separately(Fragments<S>& to, const char* tile_a, const char* tile_b, int k) {
  const Place<S> place;
  const int group = place.lane / 4, position = place.lane % 4;
#pragma unroll
  for (int i = 0; i < to.kDown; ++i) {
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int row = place.row + i * kMma + group + r % 2 * 8, depth = k + 2 * position + r / 2 * 8;
      to.a[i][r] = *reinterpret_cast<const unsigned*>(tile_a + (row * S::kDepth + depth) * kElementBytes);
    }
  }
#pragma unroll
  for (int j = 0; j < to.kAcross * 4; ++j) {
    const int column = place.column + j / 2 * 8 + group, depth = k + 2 * position + j % 2 * 8;
    const auto* const from = reinterpret_cast<const std::uint16_t*>(tile_b) + depth * S::kColumns + column;
    to.b[j / 4][j / 2 % 2][j % 2] = from[0] | from[S::kColumns] << 16;
  }
}

// `ldmatrix` and later rungs: one instruction loads four registers.
template <class S>
__device__ void load(Fragments<S>& to, unsigned tile_a, unsigned tile_b, int k) {
  const Place<S> place;
  const int row = place.lane % kMma, half = place.lane / kMma;  // which row of a fragment the lane addresses
#pragma unroll
  for (int i = 0; i < to.kDown; ++i) {
    const int at = place.row + i * kMma + row;
    ampere::ldmatrix_x4(to.a[i], tile_a + offset<S>(at, k / kVector + half, S::kDepth * kElementBytes));
  }
#pragma unroll
  for (int j = 0; j < to.kAcross; ++j) {
    const int vector = (place.column + j * kMma) / kVector + half;
    ampere::ldmatrix_x4_trans(to.b[j], tile_b + offset<S>(k + row, vector, S::kColumns * kElementBytes));
  }
}

// The vectors of a tile of kRows × kColumns elements that one thread copies: those of one column of vectors, in every
// kRowStep-th row.
template <class S, int kRows, int kColumns>
class Share {
 public:
  static constexpr int kAcross = kColumns / kVector, kRowStep = kThreads<S> / kAcross, kCount = kRows / kRowStep;
  static_assert(kRowStep % 8 == 0, "all vectors of a thread are swizzled in the same way");

  Share() = default;
  // `row` and `column`: where the first tile begins in a matrix whose rows have `n` elements.
  __device__ Share(const void* matrix, int row, int column, int n)
      : from_(static_cast<const uint4*>(matrix) + (std::size_t(row + first_row()) * n + column) / kVector + vector()),
        pitch_(std::size_t(kRowStep) * n / kVector),
        to_(offset<S>(first_row(), vector(), kColumns * kElementBytes)) {}

  // Calls copy(number, offset in the tile, address in global memory) for each vector.
  template <class Copy>
  __device__ void each(Copy copy) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) copy(i, to_ + i * kRowStep * kColumns * kElementBytes, from_ + i * pitch_);
  }
  // The row of vector number i in the tile.
  static __device__ int row(int i) { return first_row() + i * kRowStep; }
  // Goes on to the tile that begins this many elements further in memory.
  __device__ void advance(std::size_t elements) { from_ += elements / kVector; }

 private:
  static __device__ int first_row() { return threadIdx.x / kAcross; }
  static __device__ int vector() { return threadIdx.x % kAcross; }

  const uint4* from_;
  std::size_t pitch_;
  int to_;
};
template <class S>
using ShareOfA = Share<S, S::kRows, S::kDepth>;
template <class S>
using ShareOfB = Share<S, S::kDepth, S::kColumns>;

// Calls f(values, row, column) for each strip of 8 × 32 elements of a warp's part of c. A lane has eight values of a
// strip: values[t] are two neighbors, in columns 8t and 8t + 1 from `column` on. The tile begins at `row` and `column`.
template <class S, class F>
__device__ void each_strip(const Sums<S>& sums, int row, int column, F f) {
  const Place<S> place;
  const int y = row + place.row + place.lane / 4, x = column + place.column + place.lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < 2 * sums.kDown; ++i) {  // eight rows each
#pragma unroll
    for (int j = 0; j < sums.kAcross; j += 2) {
      float2 values[4];
#pragma unroll
      for (int t = 0; t < 4; ++t) {
        const float (&sum)[4] = sums.at[i / 2][j + t / 2][t % 2];
        values[t] = {sum[i % 2 * 2], sum[i % 2 * 2 + 1]};
      }
      f(values, y + i * 8, x + j * kMma);
    }
  }
}

// Stores a warp's values of a strip, rounded to bfloat16. The four lanes of a row have two neighboring columns out of
// every eight; after an exchange, each has all eight. All lanes must call it, even if some store nothing.
__device__ inline void store_strip(const float2 (&values)[4], const Product& p, int row, int column, bool inside) {
  const int lane = threadIdx.x % 32;
  unsigned pairs[4];
#pragma unroll
  for (int t = 0; t < 4; ++t) pairs[t] = ampere::packed(values[t].x, values[t].y);
  ampere::transpose(pairs, lane);
  const std::size_t vector = (std::size_t(row) * p.columns + column + lane % 4 * 6) / kVector;
  if (inside) static_cast<uint4*>(p.c)[vector] = {pairs[0], pairs[1], pairs[2], pairs[3]};
}

template <class S>
__device__ void store(const Sums<S>& sums, const Product& p, int row, int column) {
  each_strip(sums, row, column, [&](const float2(&values)[4], int y, int x) { store_strip(values, p, y, x, true); });
}
