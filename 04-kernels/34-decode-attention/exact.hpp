// The right results in double precision. attention_exact.hpp compares results with them.
#pragma once
#include "04-kernels/attention_exact.hpp"
#include "shape.hpp"

// The e4m3 number that is nearest to x, or 448, the largest one. There are eight steps from each power of two to the
// next one, and below 2^-6, eight steps to zero.
__device__ inline unsigned char e4m3_of(float x) {
  const float magnitude = fminf(fabsf(x), 448);
  const int exponent = magnitude < 0x1p-6f ? -6 : ilogbf(magnitude);
  const int bits = (exponent + 6) * 8 + __float2int_rn(ldexpf(magnitude, 3 - exponent));
  return static_cast<unsigned char>(x < 0 ? bits | 0x80 : bits);
}
__device__ inline float value_of_e4m3(unsigned char bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  const float value = exponent > 0 ? ldexpf(8 + fraction, exponent - 10) : ldexpf(fraction, -9);
  return bits & 0x80 ? -value : value;
}

// Fills the pages of a cache with the random normals of fill_normals, divided by the head's scale.
extern "C" __global__ void fill_e4m3(unsigned char* cache, std::size_t count, unsigned seed, const float* scales,
                                     int kv_heads, int head) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) {
    const float number = verify::normal(verify::hash(static_cast<unsigned>(i) ^ seed));
    cache[i] = e4m3_of(__bfloat162float(__float2bfloat16_rn(number)) / scales[i / (kPage * head) % kv_heads]);
  }
}

// Element `at` of the cache; `scale` is the head's.
template <int kBytes>
__device__ float element(const void* cache, std::size_t at, float scale) {
  return kBytes == 2 ? float_of(cache, at) : scale * value_of_e4m3(static_cast<const unsigned char*>(cache)[at]);
}

// The first element of a key of a head of a request.
__device__ inline std::size_t row_of(const Decode& p, int request, int head, int key, int columns) {
  const std::size_t pitch = p.pitch, of_request = std::size_t(request) * pitch;
  if (p.table == nullptr) return ((std::size_t(request) * p.kv_heads + head) * pitch * kPage + key) * columns;
  const std::size_t page = p.table[of_request + key / kPage];
  return ((page * p.kv_heads + head) * kPage + key % kPage) * columns;
}

// A block computes the rows of o that use a head of a request. Each thread computes the score of one row and one key of
// each step, and then kD / kExactKeys elements of the row.
template <int kD, int kBytes>
__device__ void decode_exactly(const Decode& p, Exact* o, ExactRow* rows) {
  constexpr int kEach = kD / kExactKeys;
  __shared__ float q[kMostGroup][kD + 1], k[kExactKeys][kD + 1], v[kExactKeys][kD];
  __shared__ double weights[kMostGroup][kExactKeys];
  const int pair = blockIdx.x, request = pair / p.kv_heads, head = pair % p.kv_heads, keys = p.lengths[request];
  const int y = threadIdx.x / kExactKeys, x = threadIdx.x % kExactKeys;
  const std::size_t first = std::size_t(pair) * p.group;
  const float k_scale = kBytes == 2 ? 1 : p.k_scales[head], v_scale = kBytes == 2 ? 1 : p.v_scales[head];
  for (int i = threadIdx.x; i < kMostGroup * kD; i += blockDim.x) {
    q[i / kD][i % kD] = i / kD < p.group ? float_of(p.q, first * kD + i) : 0;
  }
  double largest = -INFINITY, sum = 0, length = 0, value[kEach] = {}, magnitude[kEach] = {};
  for (int from = 0; from < keys; from += kExactKeys) {
    __syncthreads();
    for (int i = threadIdx.x; i < kExactKeys * kD; i += blockDim.x) {
      if (from + i / kD >= keys) continue;
      const std::size_t at = row_of(p, request, head, from + i / kD, kD) + i % kD;
      k[i / kD][i % kD] = element<kBytes>(p.k, at, k_scale);
      v[i / kD][i % kD] = element<kBytes>(p.v, at, v_scale);
    }
    __syncthreads();
    double score = 0, of_q = 0, of_k = 0;
    for (int i = 0; i < kD; ++i) {
      score += double{q[y][i]} * k[x][i];
      of_q += q[y][i] * q[y][i], of_k += k[x][i] * k[x][i];
    }
    const bool used = from + x < keys;
    score = used ? score * p.scale : -INFINITY;
    if (used) length = max(length, sqrt(of_q * of_k) * p.scale);
    double most = max(score, largest);
    for (int i = 1; i < kExactKeys; i *= 2) most = max(most, __shfl_xor_sync(0xffffffff, most, i));
    const double factor = exp(largest - most), weight = exp(score - most);
    largest = most, sum = sum * factor + weight, weights[y][x] = weight;
    __syncthreads();
    for (int c = 0; c < kEach; ++c) value[c] *= factor, magnitude[c] *= factor;
    for (int i = 0; i < kExactKeys && from + i < keys; ++i) {
      for (int c = 0; c < kEach; ++c) {
        const double product = weights[y][i] * v[i][x + c * kExactKeys];
        value[c] += product, magnitude[c] += fabs(product);
      }
    }
  }
  for (int i = 1; i < kExactKeys; i *= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, i);
    length = max(length, __shfl_xor_sync(0xffffffff, length, i));
  }
  if (y >= p.group) return;
  for (int c = 0; c < kEach; ++c) {
    o[(first + y) * kD + x + c * kExactKeys] =
        keys > 0 ? Exact{static_cast<float>(value[c] / sum), static_cast<float>(magnitude[c] / sum)} : Exact{0, 0};
  }
  if (x == 0) rows[first + y] = {keys > 0 ? largest + log(sum) : -INFINITY, length};
}

#define DECODE_EXACT(d, bytes)                                               \
  extern "C" __global__ void __launch_bounds__(kExactKeys* kMostGroup)       \
      decode_exact_##d##_##bytes(const Decode p, Exact* o, ExactRow* rows) { \
    decode_exactly<d, bytes>(p, o, rows);                                    \
  }
DECODE_EXACT(64, 2)
DECODE_EXACT(128, 2)
DECODE_EXACT(128, 1)
