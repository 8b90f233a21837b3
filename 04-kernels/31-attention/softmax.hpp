// Online softmax: the scores of a row arrive in several steps.
#pragma once
#include "04-kernels/exp2.hpp"
#include "tile.hpp"

// For each row of a warp: its largest score so far, and the lane's part of the sum of its exponentials.
template <class S>
class Softmax {
 public:
  __device__ explicit Softmax(float scale) : scale_(S::kExp2 ? scale * kLog2E : scale) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) largest_[i] = -INFINITY, sum_[i] = 0;
  }

  // Replaces the scores by their weights, the exponentials relative to the largest score so far. Multiplies earlier
  // sums by the factor that makes them relative to it, too.
  __device__ void add(Scores<S>& scores, Output<S>& output) {
    float largest[kRows];
    bool grown = false;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      largest[i] = largest_[i];
#pragma unroll
      for (int j = 0; j < scores.kEach; ++j) largest[i] = fmaxf(largest[i], scores.of_row(i, j));
      largest[i] = largest_of_four(largest[i]);
      grown |= (largest[i] - largest_[i]) * scale_ > kTolerated;
    }
    if (!S::kLazy || __any_sync(0xffffffff, grown)) rescale(output, largest);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const float subtract = scaled(largest_[i]);
#pragma unroll
      for (int j = 0; j < scores.kEach; ++j) {
        scores.of_row(i, j) = power(scores.of_row(i, j) * scale_ - subtract);
        sum_[i] += scores.of_row(i, j);
      }
    }
  }

  // Divides the output by the sums, and stores the lse of the warp's rows, the first of which is `row`.
  __device__ void finish(Output<S>& output, const Attention& p, int row) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const float sum = sum_of_four(sum_[i]), factor = sum > 0 ? 1 / sum : 0;
#pragma unroll
      for (int j = 0; j < output.kEach; ++j) output.of_row(i, j) *= factor;
      const int at = row + output.row(i);
      if (lane() % 4 > 0 || at >= p.queries) continue;
      p.lse[std::size_t{blockIdx.y} * p.queries + at] = scaled(largest_[i]) * (S::kExp2 ? kLn2 : 1) + logf(sum);
    }
  }

 private:
  static constexpr int kRows = Scores<S>::kRows;
  static constexpr float kTolerated = 8;  // weights may be as large as 2 to this power

  __device__ static float power(float x) { return S::kExp2 ? exp2_approximately(x) : expf(x); }

  // What is subtracted from the scaled scores. If a row has no scores yet, its largest is -inf. But -inf - -inf is not
  // a number, so 0 is subtracted then.
  __device__ float scaled(float largest) const { return largest == -INFINITY ? 0 : largest * scale_; }

  __device__ void rescale(Output<S>& output, const float (&largest)[kRows]) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const float factor = power(largest_[i] * scale_ - scaled(largest[i]));
      largest_[i] = largest[i];
      sum_[i] *= factor;
#pragma unroll
      for (int j = 0; j < output.kEach; ++j) output.of_row(i, j) *= factor;
    }
  }

  float scale_;
  float largest_[kRows], sum_[kRows];
};
