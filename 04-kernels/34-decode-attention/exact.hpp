// The right results in double precision, and the comparison of all results with them.
#pragma once
#include "04-kernels/random.hpp"
#include "shape.hpp"

#include <cuda_bf16.h>

#include <cmath>
#include <cstddef>

// Fills a matrix with random normals times `factor`.
extern "C" __global__ void fill(__nv_bfloat16* matrix, std::size_t count, unsigned seed, float factor) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) {
    matrix[i] = __float2bfloat16_rn(factor * verify::normal(verify::hash(static_cast<unsigned>(i) ^ seed)));
  }
}

// How many elements of o and lse are wrong, and the sums of the squares of the errors and of the right values.
struct Comparison {
  unsigned wrong;
  double errors, values;
};

// A block compares a row of o, with kD threads, one for each element. In each step, a thread computes the score of one
// key.
//
// The bounds: a score is a sum of kD products, so it may be wrong by kD × 2^-22 × the lengths of its vectors, and its
// exponential by twice that, relatively. Rounding the exponential to bfloat16 adds 2^-8 together with the sum in the
// denominator, and rounding o adds 2^-8 of its value.
template <int kD>
__device__ void compare_row(const Decode& p, Comparison* to) {
  __shared__ double weights[kD], largest, length;
  const std::size_t row = blockIdx.x;
  const int pair = blockIdx.x / p.group, request = pair / p.kv_heads, head = pair % p.kv_heads;
  const int keys = p.lengths[request], t = threadIdx.x;
  const auto at = [](const void* matrix, std::size_t i) {
    return double{__bfloat162float(static_cast<const __nv_bfloat16*>(matrix)[i])};
  };
  const auto row_of = [&](int key) {
    const std::size_t page = p.table[static_cast<std::size_t>(request) * p.table_pitch + key / kPage];
    return ((page * p.kv_heads + head) * kPage + key % kPage) * kD;
  };
  if (t == 0) largest = -INFINITY, length = 0;
  double sum = 0, value = 0, magnitude = 0;
  for (int first = 0; first < keys; first += kD) {
    double score = -INFINITY;
    if (first + t < keys) {
      double squares_q = 0, squares_k = 0;
      score = 0;
      for (int i = 0; i < kD; ++i) {
        const double a = at(p.q, row * kD + i), b = at(p.k, row_of(first + t) + i);
        score += a * b, squares_q += a * a, squares_k += b * b;
      }
      score *= p.scale;
      weights[t] = sqrt(squares_q * squares_k) * p.scale;
    } else {
      weights[t] = 0;
    }
    __syncthreads();
    if (t == 0) {
      for (int i = 0; i < kD; ++i) length = fmax(length, weights[i]);
    }
    __syncthreads();
    weights[t] = score;
    const double before = largest;
    __syncthreads();
    if (t == 0) {
      for (int i = 0; i < kD; ++i) largest = fmax(largest, weights[i]);
    }
    __syncthreads();
    const double factor = exp(before - largest);
    weights[t] = exp(score - largest);
    __syncthreads();
    sum *= factor, value *= factor, magnitude *= factor;
    for (int i = 0; i < kD && first + i < keys; ++i) {
      const double product = weights[i] * at(p.v, row_of(first + i) + t);
      sum += weights[i], value += product, magnitude += fabs(product);
    }
    __syncthreads();
  }
  const double right = keys > 0 ? value / sum : 0, lse = keys > 0 ? largest + log(sum) : -INFINITY;
  const double found = at(p.o, row * kD + t), error = found - right, of_score = length * kD * 0x1p-22 + 0x1p-18;
  const double bound = (0x1p-8 + 2 * of_score) * (keys > 0 ? magnitude / sum : 0) + 0x1p-8 * fabs(found);
  bool is_wrong = !(fabs(error) <= bound);  // true for NaN
  if (t == 0) is_wrong |= keys > 0 ? !(fabs(p.lse[row] - lse) <= of_score + 0x1p-20 * fabs(lse)) : p.lse[row] != lse;
  if (is_wrong) atomicAdd(&to->wrong, 1);
  atomicAdd(&to->errors, error * error), atomicAdd(&to->values, right * right);
}

#define COMPARE(d)                                                                                          \
  extern "C" __global__ void __launch_bounds__(d) compare_##d(const Decode p, Comparison* to) { \
    compare_row<d>(p, to);                                                                                  \
  }
COMPARE(64)
COMPARE(128)
