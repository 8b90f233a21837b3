// Attention in double precision, and the comparison of all elements of a result with it.
#pragma once
#include "04-kernels/attention.hpp"
#include "04-kernels/random.hpp"

#include <cuda_bf16.h>

#include <cstddef>

// Fills a matrix with random normals times `factor`.
extern "C" __global__ void fill_normals(__nv_bfloat16* matrix, std::size_t count, unsigned seed, float factor) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) {
    matrix[i] = __float2bfloat16_rn(factor * verify::normal(verify::hash(static_cast<unsigned>(i) ^ seed)));
  }
}

constexpr int kExactRows = 16, kExactKeys = 16;  // of a block's tiles; each thread computes one score of them

// What is right for an element of o, and the sum of the absolute values of its products.
struct Exact {
  float value, magnitude;
};

// For each row: its lse, and the largest product of the lengths of its q and of a key, which bounds its scores.
struct ExactRow {
  double lse, length;
};

inline __device__ float float_of(const void* matrix, std::size_t at) {
  return __bfloat162float(static_cast<const __nv_bfloat16*>(matrix)[at]);
}

template <int kD>
__device__ void compute_exactly(const Attention& p, Exact* o, ExactRow* rows) {
  constexpr int kEach = kD / kExactKeys;
  __shared__ float q[kExactRows][kD + 1], k[kExactKeys][kD + 1], v[kExactKeys][kD];
  __shared__ double weights[kExactRows][kExactKeys];
  const int y = threadIdx.x / kExactKeys, x = threadIdx.x % kExactKeys, first = blockIdx.x * kExactRows,
            row = first + y;
  const std::size_t head = std::size_t{blockIdx.y} * p.queries, other = std::size_t{blockIdx.y / p.group} * p.keys;
  for (int i = threadIdx.x; i < kExactRows * kD; i += kExactRows * kExactKeys) {
    q[i / kD][i % kD] = first + i / kD < p.queries ? float_of(p.q, (head + first) * kD + i) : 0;
  }
  const int last = keys_of(p, min(first + kExactRows, p.queries) - 1), keys = keys_of(p, row);
  double largest = -INFINITY, sum = 0, length = 0, value[kEach] = {}, magnitude[kEach] = {};
  for (int from = 0; from < last; from += kExactKeys) {
    __syncthreads();
    for (int i = threadIdx.x; i < kExactKeys * kD; i += kExactRows * kExactKeys) {
      const bool inside = from + i / kD < p.keys;
      k[i / kD][i % kD] = inside ? float_of(p.k, (other + from) * kD + i) : 0;
      v[i / kD][i % kD] = inside ? float_of(p.v, (other + from) * kD + i) : 0;
    }
    __syncthreads();
    double score = 0;
    float of_q = 0, of_k = 0;
    for (int i = 0; i < kD; ++i) {
      score += q[y][i] * k[x][i];  // the product of two bfloat16 is exact in FP32
      of_q += q[y][i] * q[y][i], of_k += k[x][i] * k[x][i];
    }
    const bool used = from + x < keys;
    score = used ? score * p.scale : -INFINITY;
    if (used) length = max(length, double{sqrtf(of_q) * sqrtf(of_k) * p.scale});
    double most = max(score, largest);
    for (int i = 1; i < kExactKeys; i *= 2) {
      most = max(most, __shfl_xor_sync(0xffffffff, most, i));
      length = max(length, __shfl_xor_sync(0xffffffff, length, i));
    }
    const double factor = most == largest ? 1 : exp(largest - most), weight = used ? exp(score - most) : 0;
    largest = most;
    weights[y][x] = weight;
    sum = sum * factor + weight;
    __syncthreads();
#pragma unroll
    for (int c = 0; c < kEach; ++c) value[c] *= factor, magnitude[c] *= factor;
    for (int i = 0; i < kExactKeys && from + i < keys; ++i) {
#pragma unroll
      for (int c = 0; c < kEach; ++c) {
        const double product = weights[y][i] * v[i][x + c * kExactKeys];
        value[c] += product, magnitude[c] += fabs(product);
      }
    }
  }
  for (int i = 1; i < kExactKeys; i *= 2) sum += __shfl_xor_sync(0xffffffff, sum, i);
  if (row >= p.queries) return;
  for (int c = 0; c < kEach; ++c) {
    o[(head + row) * kD + x + c * kExactKeys] =
        keys > 0 ? Exact{static_cast<float>(value[c] / sum), static_cast<float>(magnitude[c] / sum)} : Exact{0, 0};
  }
  if (x == 0) rows[head + row] = {keys > 0 ? largest + log(sum) : -INFINITY, length};
}

// How many elements of o and lse are wrong, and the sums of the squares of the errors and of the right values.
struct Comparison {
  unsigned wrong;
  double errors, values;
};

// The bounds: a score is a sum of kD products, so it may be wrong by kD × 2^-22 × the lengths of its vectors, and its
// exponential by twice that, relatively. Rounding the exponential to bfloat16 adds 2^-8 together with the sum in the
// denominator, and rounding o adds 2^-8 of its value.
template <int kD>
__device__ void compare_with(const Attention& p, const Exact* o, const ExactRow* rows, std::size_t count,
                             Comparison* to) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  const auto* const found = static_cast<const __nv_bfloat16*>(p.o);
  unsigned wrong = 0;
  double errors = 0, values = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count * kD; i += threads) {
    const ExactRow& row = rows[i / kD];
    const float value = __bfloat162float(found[i]), error = value - o[i].value;
    const float of_score = static_cast<float>(row.length) * kD * 0x1p-22f + 0x1p-18f;
    wrong += !(fabsf(error) <= (0x1p-8f + 2 * of_score) * o[i].magnitude + 0x1p-8f * fabsf(value));  // true for NaN
    errors += double{error} * error, values += double{o[i].value} * o[i].value;
    if (i % kD > 0) continue;
    const double lse = p.lse[i / kD];
    wrong +=
        row.lse == -INFINITY ? lse != row.lse : !(fabs(lse - row.lse) <= of_score + 0x1p-22 * fabs(row.lse) + 0x1p-18);
  }
  atomicAdd(&to->wrong, wrong), atomicAdd(&to->errors, errors), atomicAdd(&to->values, values);
}

#define EXACT(d)                                                                                                     \
  extern "C" __global__ void __launch_bounds__(256) exact_##d(const Attention p, Exact* o, ExactRow* rows) {         \
    compute_exactly<d>(p, o, rows);                                                                                  \
  }                                                                                                                  \
  extern "C" __global__ void compare_##d(const Attention p, const Exact* o, const ExactRow* rows, std::size_t count, \
                                         Comparison* to) {                                                           \
    compare_with<d>(p, o, rows, count, to);                                                                          \
  }
EXACT(64)
EXACT(128)
