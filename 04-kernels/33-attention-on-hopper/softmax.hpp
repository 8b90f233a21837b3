// Online softmax of the rows of a warpgroup, as in 04-31. A thread has elements of two rows, and its four lanes share
// them. The output is multiplied at the same time, so it is rescaled later.
//
// e4m3 has no number above 448, and fewer significant bits below 2^-6. Weights in e4m3 are therefore 2^kRaised times as
// large, and so is their sum, by which the output is divided.
#pragma once
#include "04-kernels/exp2.hpp"
#include "04-kernels/tiles.hpp"
#include "shape.hpp"

template <class S>
using Scores = Sums<1, S::kKeys>;
template <class S>
using Output = Sums<1, S::kHead>;

struct Factors {
  float of_row[2];  // of a thread's rows
};

// Adds a tile's sums to the output.
template <class S>
__device__ void promote(Output<S>& output, const Factors& factors, const Output<S>& of_tile) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < output.kEach; ++j) {
      output.of_row(i, j) = output.of_row(i, j) * factors.of_row[i] + of_tile.of_row(i, j);
    }
  }
}

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
        factor_[i] = exp2_approximately(largest_[i] * scale_ - kRaised - scaled(largest[i]));
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
    if (S::kOrdered) come_before(fminf(sum_[0], sum_[1]));
  }

  // For a control run.
  __device__ static void only_exponentials(Scores<S>& scores) {
    for (float& score : registers(scores)) score = exp2_approximately(score);
    if (S::kOrdered) come_before(registers(scores)[S::kKeys / 2 - 1]);
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

  // What sums before the last add() must be multiplied by, if it always rescales.
  __device__ Factors factors() const { return {factor_[0], factor_[1]}; }

  // Divides the output by the sums, multiplies it by the scale of v, and stores the lse of a warp's rows. `rows` of
  // them exist.
  __device__ void finish(Output<S>& output, float scale, float* lse, int rows) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float sum = sum_of_four(sum_[i]), factor = sum > 0 ? scale / sum : 0;
#pragma unroll
      for (int j = 0; j < output.kEach; ++j) output.of_row(i, j) *= factor;
      if (lane() % 4 == 0 && output.row(i) < rows) lse[output.row(i)] = scaled(largest_[i]) * kLn2 + logf(sum);
    }
  }

 private:
  static constexpr float kRaised = S::kBytes == 2 ? 0 : S::kLazy ? 4 : 8;
  static constexpr float kTolerated = 8 - kRaised;  // weights may be as large as 2^8

  // What is subtracted from the scaled scores: 0 if a row has no scores yet, because -inf - -inf is not a number.
  __device__ float scaled(float largest) const { return largest == -INFINITY ? 0 : largest * scale_ - kRaised; }

  // Makes the assembler compute this number before everything that follows. It moves waits to the front, but not past a
  // store, and it does not know that this one is never executed.
  __device__ static void come_before(float number) {
    asm volatile(
        "{\n"
        ".reg .pred never;\n"
        "setp.lt.f32 never, %0, 0f00000000;\n"
        "@never st.shared.f32 [%1], %0;\n"
        "}" ::"f"(number),
        "r"(0)
        : "memory");
  }

  float scale_, largest_[2] = {-INFINITY, -INFINITY}, sum_[2] = {}, factor_[2] = {};
  bool rescales_ = false;
};
