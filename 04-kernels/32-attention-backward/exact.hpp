// The gradients of attention in double precision, and the comparison of all their elements with a result.
#pragma once
#include "04-kernels/attention_exact.hpp"
#include "shape.hpp"

// What is right for an element of a gradient, and by how much a result may differ.
struct ExactGradient {
  float value, bound;
};

// For each row of q: the product of its rows of o and of the gradient of o, and the sum of the absolute values.
struct ExactDelta {
  double value, magnitude;
};

template <int kD>
__device__ void delta_exactly(const Gradients& g, const Exact* o, std::size_t rows, ExactDelta* delta) {
  const std::size_t row = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  ExactDelta sum{0, 0};
  for (std::size_t i = row * kD; i < (row + 1) * kD; ++i) {
    const double product = double{o[i].value} * __bfloat162float(static_cast<const __nv_bfloat16*>(g.o)[i]);
    sum.value += product, sum.magnitude += fabs(product);
  }
  delta[row] = sum;
}

// A pair of matrices of which a thread uses rows: q and the gradient of o, or k and v.
template <int kD>
struct PairOfRows {
  float one[16][kD + 1], other[16][kD + 1];

  __device__ void load(const void* from_one, const void* from_other, std::size_t first, int rows) {
    for (int i = threadIdx.x; i < 16 * kD; i += blockDim.x) {
      const std::size_t at = first * kD + i;
      const bool inside = i / kD < rows;
      one[i / kD][i % kD] = inside ? __bfloat162float(static_cast<const __nv_bfloat16*>(from_one)[at]) : 0;
      other[i / kD][i % kD] = inside ? __bfloat162float(static_cast<const __nv_bfloat16*>(from_other)[at]) : 0;
    }
  }
};

// The weight of a query and a key, the gradient of its score, and how wrong each may be. The weight is rounded to
// bfloat16, as is o, from which the kernels compute delta; a score is wrong by no more than attention_exact.hpp says.
struct Pair {
  double weight, gradient;
  float of_weight, of_gradient;
};
template <int kD>
__device__ Pair pair(const Attention& p, const PairOfRows<kD>& queries, int i, const PairOfRows<kD>& keys, int j,
                     const ExactRow& row, const ExactDelta& delta) {
  double score = 0, product = 0;
  float magnitude = 0;
  for (int c = 0; c < kD; ++c) {
    score += queries.one[i][c] * keys.one[j][c];  // the product of two bfloat16 is exact in FP32
    const float term = queries.other[i][c] * keys.other[j][c];
    product += term, magnitude += fabsf(term);
  }
  const double weight = exp(score * p.scale - row.lse), gradient = weight * (product - delta.value);
  const double error = 0x1p-7 + 4 * row.length * kD * 0x1p-22;
  const double of_gradient = fabs(gradient) * error + weight * (delta.magnitude * 0x1p-8 + magnitude * 0x1p-18);
  return {weight, gradient, static_cast<float>(weight * error), static_cast<float>(of_gradient)};
}

// The gradients of rows of k and v (kOfKeys), or of rows of q. A block computes 16 rows, and each thread one pair of
// 16 × 16 in each step.
template <int kD, bool kOfKeys>
__device__ void gradients_exactly(const Attention& p, const Gradients& g, const ExactRow* rows, const ExactDelta* delta,
                                  ExactGradient* first, ExactGradient* second) {
  constexpr int kEach = kD / 16;
  __shared__ PairOfRows<kD> own, others;
  __shared__ Pair pairs[16][16];
  const int y = threadIdx.x / 16, x = threadIdx.x % 16, from = blockIdx.x * 16;
  const int own_rows = kOfKeys ? p.keys : p.queries, other_rows = kOfKeys ? p.queries : p.keys;
  double sums[2][kEach] = {};
  float bounds[2][kEach] = {};
  const std::size_t own_head = std::size_t{blockIdx.y} * own_rows;
  own.load(kOfKeys ? p.k : p.q, kOfKeys ? p.v : g.o, own_head + from, own_rows - from);
  for (int head = 0; head < (kOfKeys ? p.group : 1); ++head) {
    const std::size_t other_head =
        std::size_t{kOfKeys ? blockIdx.y * p.group + head : blockIdx.y / p.group} * other_rows;
    const std::size_t head_of_q = kOfKeys ? other_head : own_head;
    for (int step = 0; step < other_rows; step += 16) {
      const int last_query = min(p.queries, (kOfKeys ? step : from) + 16) - 1;
      if ((kOfKeys ? from : step) >= keys_of(p, last_query)) continue;  // no query uses these keys
      __syncthreads();
      others.load(kOfKeys ? p.q : p.k, kOfKeys ? g.o : p.v, other_head + step, other_rows - step);
      __syncthreads();
      const int query = kOfKeys ? step + x : from + y, key = kOfKeys ? from + y : step + x;
      const bool used = query < p.queries && key < keys_of(p, query);
      if (used) {
        const std::size_t at = head_of_q + query;
        pairs[y][x] =
            kOfKeys ? pair(p, others, x, own, y, rows[at], delta[at]) : pair(p, own, y, others, x, rows[at], delta[at]);
      } else {
        pairs[y][x] = {0, 0, 0, 0};
      }
      __syncthreads();
      for (int i = 0; i < 16; ++i) {
        const Pair& of = pairs[y][i];
        for (int c = 0; c < kEach; ++c) {
          const float one = others.one[i][x + 16 * c], other = others.other[i][x + 16 * c];
          sums[0][c] += of.gradient * one, bounds[0][c] += of.of_gradient * fabsf(one);
          if (kOfKeys) sums[1][c] += of.weight * other, bounds[1][c] += of.of_weight * fabsf(other);
        }
      }
    }
  }
  if (from + y >= own_rows) return;
  for (int c = 0; c < kEach; ++c) {
    const std::size_t at = (own_head + from + y) * kD + x + 16 * c;
    first[at] = {static_cast<float>(sums[0][c] * p.scale), bounds[0][c] * p.scale};
    if (kOfKeys) second[at] = {static_cast<float>(sums[1][c]), bounds[1][c]};
  }
}

// Counts the wrong elements, and adds up the squares of the errors and of the right values. Rounding a gradient to
// bfloat16 adds 2^-8 of its value.
extern "C" __global__ void compare_gradient(const __nv_bfloat16* found, const ExactGradient* right, std::size_t count,
                                            Comparison* to) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  unsigned wrong = 0;
  double errors = 0, values = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) {
    const float value = __bfloat162float(found[i]), error = value - right[i].value;
    wrong += !(fabsf(error) <= right[i].bound + 0x1p-8f * fabsf(value) + 1e-30f);  // true for NaN
    errors += double{error} * error, values += double{right[i].value} * right[i].value;
  }
  atomicAdd(&to->wrong, wrong), atomicAdd(&to->errors, errors), atomicAdd(&to->values, values);
}

// The output of attention as the kernels get it.
extern "C" __global__ void round_output(const Attention p, const Exact* o, const ExactRow* rows, std::size_t rows_of_q,
                                        int d) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < rows_of_q * d; i += threads) {
    static_cast<__nv_bfloat16*>(p.o)[i] = __float2bfloat16_rn(o[i].value);
    if (i % d == 0) p.lse[i / d] = static_cast<float>(rows[i / d].lse);
  }
}

#define EXACT_GRADIENTS(d)                                                                                             \
  extern "C" __global__ void exact_delta_##d(const Gradients g, const Exact* o, std::size_t rows, ExactDelta* delta) { \
    delta_exactly<d>(g, o, rows, delta);                                                                               \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256)                                                                    \
      exact_by_keys_##d(const Attention p, const Gradients g, const ExactRow* rows, const ExactDelta* delta,           \
                        ExactGradient* of_k, ExactGradient* of_v) {                                                    \
    gradients_exactly<d, true>(p, g, rows, delta, of_k, of_v);                                                         \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) exact_by_queries_##d(                                              \
      const Attention p, const Gradients g, const ExactRow* rows, const ExactDelta* delta, ExactGradient* of_q) {      \
    gradients_exactly<d, false>(p, g, rows, delta, of_q, nullptr);                                                     \
  }
EXACT_GRADIENTS(64)
EXACT_GRADIENTS(128)
