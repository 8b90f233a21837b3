// Elements in e4m3: the weights as operands of wgmma, and the kernels that prepare q, k and v.
#pragma once
#include "04-kernels/attention_exact.hpp"
#include "04-kernels/tiles.hpp"

#include <cstddef>

// Four numbers in e4m3, the first one in the lowest byte.
__device__ inline unsigned packed_bytes(float a, float b, float c, float d) {
  unsigned bytes;
  asm("{\n"
      ".reg .b16 low, high;\n"
      "cvt.rn.satfinite.e4m3x2.f32 low, %2, %1;\n"
      "cvt.rn.satfinite.e4m3x2.f32 high, %4, %3;\n"
      "mov.b32 %0, {low, high};\n"
      "}"
      : "=r"(bytes)
      : "f"(a), "f"(b), "f"(c), "f"(d));
  return bytes;
}

// Of 16 keys, a lane has the weights of two neighbors in each half, and an operand of wgmma has them side by side: byte
// byte_of(i) of 16 is the weight of key i. The bytes of v are in the same order.
__device__ constexpr int byte_of(int key) { return key % 8 / 2 * 4 + key / 8 * 2 + key % 2; }

// Thirty-two columns of sums, from column 32 k on, as the left operand of a wgmma. Each lane already has the right
// ones.
template <int kColumns>
__device__ void as_bytes(unsigned (&to)[1][4], const Sums<1, kColumns>& sums, int k) {
#pragma unroll
  for (int r = 0; r < 4; ++r) {  // row r % 2 of the lane's, half r / 2 of the columns
    const float (&first)[4] = sums.at[0][2 * k + r / 2][0], (&second)[4] = sums.at[0][2 * k + r / 2][1];
    const int i = r % 2 * 2;
    to[0][r] = packed_bytes(first[i], first[i + 1], second[i], second[i + 1]);
  }
}

// ---- Quantization: e4m3 and a scale for each head ----
//
// Block (x, h) works on a part of head h, which has `count` elements.

__device__ inline float low_of(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ inline float high_of(unsigned pair) { return __uint_as_float(pair & 0xffff0000u); }

// The largest magnitude of each head. `largest` was zero before.
extern "C" __global__ void find_largest(const uint4* matrices, std::size_t count, float* largest) {
  const std::size_t vectors = count / 8, threads = std::size_t{gridDim.x} * blockDim.x;
  const uint4* const from = matrices + blockIdx.y * vectors;
  float found = 0;
#pragma unroll 4
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < vectors; i += threads) {
    const uint4 vector = from[i];
    for (const unsigned pair : {vector.x, vector.y, vector.z, vector.w}) {
      found = fmaxf(found, fmaxf(fabsf(low_of(pair)), fabsf(high_of(pair))));
    }
  }
  for (int i = 16; i > 0; i /= 2) found = fmaxf(found, __shfl_xor_sync(0xffffffff, found, i));
  // The bits of floats that are not negative are ordered like the floats.
  if (lane() == 0) atomicMax(reinterpret_cast<unsigned*>(largest + blockIdx.y), __float_as_uint(found));
}

// The smallest power of 2 with which no magnitude exceeds 448. Because e4m3 is a floating-point format, other scales
// would round no more finely.
__device__ inline float scale_for(float largest) {
  int exponent;
  const float fraction = frexpf(largest / 448, &exponent);
  return largest == 0 ? 1 : ldexpf(1, fraction == 0.5f ? exponent - 1 : exponent);
}

__device__ inline uint2 bytes_of(const uint4& vector, float factor) {
  return {packed_bytes(low_of(vector.x) * factor, high_of(vector.x) * factor, low_of(vector.y) * factor,
                       high_of(vector.y) * factor),
          packed_bytes(low_of(vector.z) * factor, high_of(vector.z) * factor, low_of(vector.w) * factor,
                       high_of(vector.w) * factor)};
}

// q or k.
extern "C" __global__ void quantize(const uint4* matrices, std::size_t count, const float* largest, uint2* to,
                                    float* scales) {
  const std::size_t vectors = count / 8, threads = std::size_t{gridDim.x} * blockDim.x, head = blockIdx.y * vectors;
  const float scale = scale_for(largest[blockIdx.y]);
#pragma unroll 4
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < vectors; i += threads) {
    to[head + i] = bytes_of(matrices[head + i], 1 / scale);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) scales[blockIdx.y] = scale;
}

// v with rows of 128 elements, transposed: row c has element c of every key, and the keys are in the order of byte_of.
// A row has `pitch` bytes, a multiple of 32; those past the last key become 0. A warp converts 32 keys, and each lane
// has four columns of them.
extern "C" __global__ void quantize_transposed(const uint2* matrices, int keys, int pitch, const float* largest,
                                               unsigned char* to, float* scales) {
  constexpr int kColumns = 128, kTogether = 32;
  const float scale = scale_for(largest[blockIdx.y]), factor = 1 / scale;
  const int first = (blockIdx.x * (blockDim.x / 32) + warp()) * kTogether;
  if (blockIdx.x == 0 && threadIdx.x == 0) scales[blockIdx.y] = scale;
  if (first >= pitch) return;
  const uint2* const from = matrices + (std::size_t{blockIdx.y} * keys + first) * (kColumns / 4) + lane();
  uint2 rows[kTogether];
#pragma unroll
  for (int i = 0; i < kTogether; ++i) rows[i] = first + i < keys ? from[i * (kColumns / 4)] : uint2{};
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    const auto number = [&](int key) {
      const unsigned pair = c < 2 ? rows[key].x : rows[key].y;
      return factor * (c % 2 == 0 ? low_of(pair) : high_of(pair));
    };
    auto* const row =
        reinterpret_cast<uint4*>(to + (std::size_t{blockIdx.y} * kColumns + lane() * 4 + c) * pitch + first);
#pragma unroll
    for (int half = 0; half < 2; ++half) {  // 16 keys each
      unsigned bytes[4];
#pragma unroll
      for (int t = 0; t < 4; ++t) {
        const int key = half * 16 + 2 * t;
        bytes[t] = packed_bytes(number(key), number(key + 1), number(key + 8), number(key + 9));
      }
      row[half] = {bytes[0], bytes[1], bytes[2], bytes[3]};
    }
  }
}

// ---- What the kernels are compared with ----

// Replaces numbers by those that e4m3 and the scale can represent. They are exact in bfloat16.
extern "C" __global__ void round_to_e4m3(__nv_bfloat162* matrices, std::size_t count, const float* largest) {
  const std::size_t pairs = count / 2, threads = std::size_t{gridDim.x} * blockDim.x;
  const float scale = scale_for(largest[blockIdx.y]);
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < pairs; i += threads) {
    __nv_bfloat162& pair = matrices[blockIdx.y * pairs + i];
    const unsigned bytes = packed_bytes(__low2float(pair) / scale, __high2float(pair) / scale, 0, 0);
    __half2 halves;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;"
        : "=r"(reinterpret_cast<unsigned&>(halves))
        : "h"(static_cast<unsigned short>(bytes)));
    pair = __floats2bfloat162_rn(__low2float(halves) * scale, __high2float(halves) * scale);
  }
}

// Fills a matrix of bfloat16 with random numbers between 1/2 and 1.
extern "C" __global__ void fill_positive(__nv_bfloat16* matrix, std::size_t count) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) {
    matrix[i] = __float2bfloat16_rn(0.5f + 0x1p-33f * static_cast<float>(verify::hash(static_cast<unsigned>(i))));
  }
}

// How many elements of o and lse are wrong, if the weights were rounded to e4m3, and the sums of the squares of the
// errors and of the right values. A warp compares a row of 128 elements. The rounding errors of the weights are about
// 3% of them, so those of o are about 3% of a typical element of its row, and a quarter is too much. An element may
// also be wrong by what rounding a single weight can do.
extern "C" __global__ void compare_e4m3_128(const Attention p, const Exact* o, const ExactRow* rows, std::size_t count,
                                            Comparison* to) {
  constexpr int kColumns = 128, kEach = kColumns / 32;
  const std::size_t warps = std::size_t{gridDim.x} * blockDim.x / 32;
  unsigned wrong = 0;
  double errors = 0, values = 0;
  for (std::size_t i = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32; i < count; i += warps) {
    float error[kEach], value[kEach], squares = 0;
    for (int c = 0; c < kEach; ++c) {
      const std::size_t at = i * kColumns + c * 32 + lane();
      value[c] = o[at].value, error[c] = float_of(p.o, at) - value[c];
      squares += value[c] * value[c];
      errors += double{error[c]} * error[c], values += double{value[c]} * value[c];
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) squares += __shfl_xor_sync(0xffffffff, squares, lanes);
    const float typical = sqrtf(squares / kColumns);
    for (int c = 0; c < kEach; ++c) wrong += !(fabsf(error[c]) <= typical / 4 + fabsf(value[c]) / 16);
    const float of_score = static_cast<float>(rows[i].length) * 0x1p-11f + 0x1p-9f;
    if (lane() == 0) {
      wrong += rows[i].lse == -INFINITY ? p.lse[i] != -INFINITY : !(fabs(p.lse[i] - rows[i].lse) <= of_score);
    }
  }
  atomicAdd(&to->wrong, wrong), atomicAdd(&to->errors, errors), atomicAdd(&to->values, values);
}
