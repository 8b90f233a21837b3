// RMSNorm of x + residual: h = x + residual is stored, and what becomes of the result is up to the caller.
#pragma once
#include "row.hpp"

__device__ inline float sum_of(float a, float b) { return a + b; }

// Calls finish(team, part of the result, row) for each row.
template <class T, const Shape& kShape, class Finish>
__device__ void rms_norm(const Rows& p, Finish finish) {
  Team<kShape> team;
  Inputs<T, kShape, kRmsNormInputs> inputs(team, p, 0, {p.x, p.residual});
  Part<T, kShape> weight;  // of one row, it is loaded when x and residual no longer need their registers
  if (kShape.ahead) weight.load(team, static_cast<const T*>(p.weight), p.columns, 0);
  for (int row = team.row; row < p.rows; row += team.teams) {
    inputs.wait();
    Part<T, kShape> h = inputs.part(0, row);
    {
      const Part<T, kShape> residual = inputs.part(1, row);
      inputs.release(row);
      h.assign([&](int v, int i) { return h(v, i) + residual(v, i); });
    }
    h.forget_conversions();
    h.store(team, static_cast<T*>(p.h) + std::size_t(p.columns) * row, p.columns);
    float squares = sum_over(h, [&](int v, int i) { return h(v, i) * h(v, i); });
    h.forget_conversions();
    squares = team.combined(squares, sum_of);
    const float factor = rsqrtf(squares / static_cast<float>(p.columns) + p.epsilon);
    if (!kShape.ahead) weight.load(team, static_cast<const T*>(p.weight), p.columns, 0);
    weight.forget_conversions();
    h.assign([&](int v, int i) { return h(v, i) * factor * weight(v, i); });
    finish(team, h, row);
  }
}
