// Sums of e4m3 products, as wgmma computes them on an H200 (driver 580). The rule predicts each of 3,005 recorded sums
// exactly; tests/instructions/short_sums.inc has some of them.
//
// An instruction adds 32 products to a sum. Each addend has an exponent: the old sum its own, and a product the sum of
// its elements' exponents, which are at least -6. With the largest one, E, all addends are truncated towards zero to
// multiples of 2^(E - 13) and added. The new sum is truncated to 14 significant bits.
#pragma once
#include "common/simulator/types.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

namespace cudasim {

class ShortSums {
 public:
  // b: `depth` rows of `columns` numbers.
  ShortSums(const std::vector<double>& b, u32 depth, u32 columns)
      : b_(b), exponents_(b.size()), depth_(depth), columns_(columns) {
    std::transform(b.begin(), b.end(), exponents_.begin(), exponent_of_element);
    finite_ = std::all_of(b.begin(), b.end(), [](double x) { return std::isfinite(x); });
  }

  // Adds a row of a times b to a row of sums. Returns false, and does nothing, if there is a NaN or an infinity.
  bool add(const double* a, double* sums) const {
    const auto finite = [](double x) { return std::isfinite(x); };
    if (!finite_ || !std::all_of(a, a + depth_, finite) || !std::all_of(sums, sums + columns_, finite)) return false;
    std::array<i16, kMostColumns> largest;
    std::array<double, kMostColumns> scale;  // 2^(13 - E)
    std::array<i32, kMostColumns> total;
    for (u32 c = 0; c < columns_; ++c) largest[c] = sums[c] == 0 ? kNone : i16(std::ilogb(sums[c]));
    for (u32 k = 0; k < depth_; ++k) {
      if (a[k] == 0) continue;
      const i16 exponent = exponent_of_element(a[k]), *const of_b = &exponents_[k * columns_];
      for (u32 c = 0; c < columns_; ++c) largest[c] = std::max(largest[c], i16(exponent + of_b[c]));
    }
    for (u32 c = 0; c < columns_; ++c) {
      scale[c] = largest[c] < kNone / 2 ? 1 : std::bit_cast<double>(u64(1023 + kBits - 1 - largest[c]) << 52);
      total[c] = i32(sums[c] * scale[c]);
    }
    for (u32 k = 0; k < depth_; ++k) {
      if (a[k] == 0) continue;
      const double x = a[k], *const of_b = &b_[k * columns_];
      for (u32 c = 0; c < columns_; ++c) total[c] += i32(x * of_b[c] * scale[c]);
    }
    for (u32 c = 0; c < columns_; ++c) sums[c] = truncated(total[c]) / scale[c];
    return true;
  }

 private:
  static constexpr u32 kMostColumns = 256;
  static constexpr int kBits = 14;
  static constexpr i16 kNone = -8192;  // the exponent of 0
  static i16 exponent_of_element(double x) { return x == 0 ? kNone : i16(std::max(std::ilogb(x), -6)); }
  static double truncated(i32 sum) {
    const u32 magnitude = u32(std::abs(sum));
    const int beyond = std::max(int(std::bit_width(magnitude)) - kBits, 0);
    const double kept = double(magnitude >> beyond << beyond);
    return sum < 0 ? -kept : kept;
  }

  const std::vector<double>& b_;
  std::vector<i16> exponents_;
  u32 depth_, columns_;
  bool finite_;
};

}  // namespace cudasim
