// Online softmax of a warp's rows of q, and the sum of the values with its weights.
#pragma once
#include "04-kernels/exp2.hpp"
#include "page.hpp"

// What a warp knows about its rows of q: the largest score so far, times log2 e, and relative to it the sum of the
// exponentials and the sum of the values. A lane has a part of the sums of two rows.
template <class S>
class State {
 public:
  // Adds a page, of which `keys` keys exist, for `rows` rows of q. `scale` is times log2 e.
  __device__ void add(const Queries<S>& q, int rows, unsigned k, unsigned v, int keys, float scale) {
    Scores scores;
    multiply<S>(scores, q, k);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (i * 8 >= rows) break;  // the scores of rows that do not exist are 0, and so are the values
      float largest = largest_[i];
#pragma unroll
      for (int j = 0; j < scores.kEach; ++j) {
        float& score = scores.of_row(i, j);
        score = scores.column(j) < keys ? score * scale : -INFINITY;
        largest = fmaxf(largest, score);
      }
      largest = largest_of_four(largest);
      if (__any_sync(0xffffffff, largest > largest_[i])) rescale(i, largest);
#pragma unroll
      for (int j = 0; j < scores.kEach; ++j) {
        scores.of_row(i, j) = exp2_approximately(scores.of_row(i, j) - largest);
        sum_[i] += scores.of_row(i, j);
      }
    }
    unsigned weights[1][4];
    as_operand(weights, scores, 0);
    accumulate<S>(output_, weights, v);
  }

  __device__ float largest(int i) const { return largest_[i]; }
  __device__ float sum(int i) const { return sum_of_four(sum_[i]); }
  __device__ const Output<S>& output() const { return output_; }

 private:
  // A page has at least one key, so the largest score is a number. At first, the factor is 0.
  __device__ void rescale(int i, float largest) {
    const float factor = exp2_approximately(largest_[i] - largest);
    largest_[i] = largest, sum_[i] *= factor;
#pragma unroll
    for (int j = 0; j < output_.kEach; ++j) output_.of_row(i, j) *= factor;
  }

  float largest_[2] = {-INFINITY, -INFINITY}, sum_[2] = {};
  Output<S> output_;
};
