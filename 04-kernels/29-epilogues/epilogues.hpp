// Epilogues: what happens to the sums of a product between the last multiplication and the store.
#pragma once
#include "04-kernels/25-tensor-cores/pipeline.hpp"
#include "shape.hpp"

__device__ inline float2 unpacked(unsigned pair) {
  return __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(&pair));
}
__device__ inline const unsigned& pair_at(const void* matrix, std::size_t element) {
  return *reinterpret_cast<const unsigned*>(static_cast<const __nv_bfloat16*>(matrix) + element);
}

// 1 / (1 + e^-x). For large negative x, e^-x is infinite and the result 0.
__device__ inline float sigmoid(float x) { return __fdividef(1, 1 + __expf(-x)); }
// The approximation of GELU with a hyperbolic tangent: (1 + tanh(y)) / 2 is sigmoid(2y).
__device__ inline float gelu(float x) { return x * sigmoid(1.5957691216f * (x + 0.044715f * x * x * x)); }
__device__ inline float silu(float x) { return x * sigmoid(x); }

// An epilogue gets a lane's values of one strip (see each_strip), in `row` and from `column` on. If the row is not
// inside the matrix, nothing is loaded or stored. All lanes of the warp take part in exchanges.
struct None {
  static __device__ void apply(float2 (&values)[4], const Linear& p, int row, int column, bool inside) {
    store_strip(values, p, row, column, inside);
  }
};

// c = GELU(a × b + bias)
struct BiasGelu {
  static __device__ void apply(float2 (&values)[4], const Linear& p, int row, int column, bool inside) {
#pragma unroll
    for (int t = 0; t < 4; ++t) {
      const float2 bias = unpacked(pair_at(p.bias, column + 8 * t));
      values[t] = {gelu(values[t].x + bias.x), gelu(values[t].y + bias.y)};
    }
    store_strip(values, p, row, column, inside);
  }
};

// c = a × b + residual. The residual is loaded in vectors of eight elements, as c is stored, and then exchanged. No
// thread writes it, so it is loaded with __ldg: the compiler may move such a load ahead of stores.
struct Residual {
  static __device__ void apply(float2 (&values)[4], const Linear& p, int row, int column, bool inside) {
    const int lane = threadIdx.x % 32;
    unsigned pairs[4] = {};
    if (inside) {
      const std::size_t at = std::size_t(row) * p.columns + column + lane % 4 * 6;
      const uint4 vector = __ldg(static_cast<const uint4*>(p.residual) + at / kVector);
      pairs[0] = vector.x, pairs[1] = vector.y, pairs[2] = vector.z, pairs[3] = vector.w;
    }
    ampere::transpose(pairs, lane);
#pragma unroll
    for (int t = 0; t < 4; ++t) {
      const float2 other = unpacked(pairs[t]);
      values[t] = {values[t].x + other.x, values[t].y + other.y};
    }
    store_strip(values, p, row, column, inside);
  }
};

// c = SiLU(gate) × up, with columns/2 elements per row. Even columns of b give the gates, odd columns the factors, so a
// lane has both of each pair.
struct SwiGlu {
  static __device__ void apply(float2 (&values)[4], const Linear& p, int row, int column, bool inside) {
    const int lane = threadIdx.x % 32;
    unsigned results[4];
#pragma unroll
    for (int t = 0; t < 4; ++t) results[t] = __float_as_uint(silu(values[t].x) * values[t].y);
    ampere::transpose(results, lane);
    const std::size_t at = std::size_t(row) * p.columns + column + lane % 4 * 6;
    if (inside) {
      static_cast<uint2*>(p.c)[at / kVector] = {
          ampere::packed(__uint_as_float(results[0]), __uint_as_float(results[1])),
          ampere::packed(__uint_as_float(results[2]), __uint_as_float(results[3]))};
    }
  }
};

template <class Epilogue, class S>
__device__ void finish(const Sums<S>& sums, const Linear& p, int row, int column) {
  each_strip(sums, row, column,
             [&](float2(&values)[4], int y, int x) { Epilogue::apply(values, p, y, x, !S::kThin || y < p.rows); });
}
