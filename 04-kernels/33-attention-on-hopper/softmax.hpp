// Online softmax of the rows of a warpgroup, as in 04-31. A thread has elements of two rows, and its four lanes share
// them. The output is multiplied at the same time, so it is rescaled later.
#pragma once
#include "04-kernels/exp2.hpp"
#include "04-kernels/tiles.hpp"
#include "shape.hpp"

template <class S>
using Scores = Sums<1, S::kKeys>;
template <class S>
using Output = Sums<1, S::kHead>;

template <class S>
class Softmax {
 public:
  __device__ explicit Softmax(float scale) : scale_(scale * kLog2E) {}

  // Replaces the scores by their weights, relative to the largest score of the row so far. If it has grown much, the
  // earlier sums must be rescaled.
  __device__ void add(Scores<S>& scores) {
    float largest[2];
    bool grown = false;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      largest[i] = largest_[i];
#pragma unroll
      for (int j = 0; j < scores.kEach; ++j) largest[i] = fmaxf(largest[i], scores.of_row(i, j));
      largest[i] = largest_of_four(largest[i]);
      grown |= (largest[i] - largest_[i]) * scale_ > kTolerated;
    }
    rescales_ = !S::kLazy || __any_sync(0xffffffff, grown);
    if (rescales_) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        factor_[i] = exp2_approximately(largest_[i] * scale_ - scaled(largest[i]));
        largest_[i] = largest[i];
        sum_[i] *= factor_[i];
      }
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float subtract = scaled(largest_[i]);
#pragma unroll
      for (int j = 0; j < scores.kEach; ++j) {
        scores.of_row(i, j) = exp2_approximately(scores.of_row(i, j) * scale_ - subtract);
        sum_[i] += scores.of_row(i, j);
      }
    }
  }

  // Makes the output relative to the largest scores that the last add() has used.
  __device__ void rescale(Output<S>& output) const {
    if (!rescales_) return;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int j = 0; j < output.kEach; ++j) output.of_row(i, j) *= factor_[i];
    }
  }

  // Divides the output by the sums, and stores the lse of a warp's rows. `rows` of them exist.
  __device__ void finish(Output<S>& output, float* lse, int rows) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float sum = sum_of_four(sum_[i]), factor = sum > 0 ? 1 / sum : 0;
#pragma unroll
      for (int j = 0; j < output.kEach; ++j) output.of_row(i, j) *= factor;
      if (lane() % 4 == 0 && output.row(i) < rows) lse[output.row(i)] = scaled(largest_[i]) * kLn2 + logf(sum);
    }
  }

 private:
  static constexpr float kTolerated = 8;  // weights may be as large as 2 to this power

  // What is subtracted from the scaled scores: 0 if a row has no scores yet, because -inf - -inf is not a number.
  __device__ float scaled(float largest) const { return largest == -INFINITY ? 0 : largest * scale_; }

  float scale_, largest_[2] = {-INFINITY, -INFINITY}, sum_[2] = {}, factor_[2] = {};
  bool rescales_ = false;
};
