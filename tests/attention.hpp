// What the checks of attention have in common: matrices of bfloat16 with 64 columns, and the right result in double
// precision.
#pragma once
#include "common/cu.hpp"
#include "tests/bfloat16.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

constexpr int kHead = 64, kRows = 64;
constexpr int kPast = 64 * kHead;  // elements past the end of each matrix, in the same allocation
constexpr std::uint16_t kNaN = 0xffff;
constexpr float kScale = 0.125f;

// A matrix on the device, of numbers from -2 to 2 in steps of 1/32 times a power of two, followed by NaNs.
class Matrix {
 public:
  Matrix(int rows, unsigned seed, float factor) : numbers_(std::size_t(rows) * kHead) {
    std::vector<std::uint16_t> elements(numbers_.size() + kPast, kNaN);
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      unsigned hash = static_cast<unsigned>(i) * 2654435761u + seed;
      hash = (hash ^ hash >> 15) * 0x2c1b3c6du;
      const float value = factor * static_cast<float>(static_cast<int>((hash >> 16) % 129) - 64) / 32;
      elements[i] = bfloat16(value);
      numbers_[i] = value;
    }
    memory_ = cu::Memory(2 * elements.size());
    CU_CHECK(cuMemcpyHtoD(memory_.address, elements.data(), 2 * elements.size()));
  }
  CUdeviceptr address() const { return memory_.address; }
  const float* row(int row) const { return &numbers_[std::size_t(row) * kHead]; }

 private:
  std::vector<float> numbers_;
  cu::Memory memory_;
};

// A row of o, the sums of the absolute values that it was added up from, and its logarithm of the sum of exponentials.
struct Row {
  double o[kHead], magnitude[kHead], lse;
};

// The result for one row of q and `count` rows of k and v, from row `first` on.
inline Row exact_row(const float* q, const Matrix& k, const Matrix& v, int first, int count) {
  std::vector<double> scores;
  for (int key = first; key < first + count; ++key) {
    double sum = 0;
    for (int c = 0; c < kHead; ++c) sum += double{q[c]} * k.row(key)[c];
    scores.push_back(sum * kScale);
  }
  const double most = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - most);
  Row found{};
  for (int i = 0; i < count; ++i) {
    for (int c = 0; c < kHead; ++c) {
      const double product = scores[i] / sum * v.row(first + i)[c];
      found.o[c] += product, found.magnitude[c] += std::abs(product);
    }
  }
  found.lse = most + std::log(sum);
  return found;
}

struct Wrong {
  int o, lse;  // how many elements are wrong, or have been written past the end
};

// o and lse on the device, filled with NaN, with room past their ends.
class Output {
 public:
  explicit Output(std::size_t rows) : rows_(rows) {
    CU_CHECK(cuMemsetD16(o.address, kNaN, rows * kHead + kPast));
    CU_CHECK(cuMemsetD32(lse.address, 0xffffffff, rows + kRows));
  }

  // `exact(i)` is the right row i.
  template <class Exact>
  Wrong wrong(Exact exact) const {
    std::vector<std::uint16_t> of_o(rows_ * kHead + kPast);
    std::vector<float> of_lse(rows_ + kRows);
    CU_CHECK(cuMemcpyDtoH(of_o.data(), o.address, 2 * of_o.size()));
    CU_CHECK(cuMemcpyDtoH(of_lse.data(), lse.address, 4 * of_lse.size()));
    Wrong wrong{0, 0};
    for (std::size_t i = 0; i < rows_; ++i) {
      const Row right = exact(static_cast<int>(i));
      wrong.lse += !(std::abs(of_lse[i] - right.lse) <= 1e-4 + 1e-5 * std::abs(right.lse));
      for (int c = 0; c < kHead; ++c) {
        // Weights and o are rounded to bfloat16, each by at most 2^-9 of its value.
        wrong.o += !(std::abs(from_bfloat16(of_o[i * kHead + c]) - right.o[c]) <= 0.01 * right.magnitude[c]);
      }
    }
    for (std::size_t i = rows_ * kHead; i < of_o.size(); ++i) wrong.o += of_o[i] != kNaN;
    for (std::size_t i = rows_; i < of_lse.size(); ++i) wrong.lse += !std::isnan(of_lse[i]);
    return wrong;
  }

 private:
  std::size_t rows_;

 public:
  cu::Memory o{2 * (rows_ * kHead + kPast)}, lse{4 * (rows_ + kRows)};
};
