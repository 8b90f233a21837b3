// Rejected with: "the scale of a row is its largest magnitude, divided by 448"
// Forgets that the largest magnitude may be that of a negative number.
// Quantize the rows of x to e4m3, multiply them by weights that are quantized already, and scale the sums.
#include "04-kernels/ampere.hpp"

constexpr int kColumns = 512;    // of x and of w: products of each sum
constexpr float kLargest = 448;  // the largest number in e4m3

// Multiplies 16 rows of x, from `row` on, by 8 rows of w, from `column` on. sums[0] and sums[1] are of row lane / 4 and
// columns 2 (lane % 4) and the next one; sums[2] and sums[3] are of the same columns in the row 8 below.
__device__ void multiply(float (&sums)[4], const unsigned char* x, const unsigned char* w, int row, int column) {
  const int group = threadIdx.x / 4, first = threadIdx.x % 4 * 4;
  const auto four = [&](const unsigned char* matrix, int y, int k) {
    return *reinterpret_cast<const unsigned*>(matrix + y * kColumns + k + first);
  };
  for (int k = 0; k < kColumns; k += 32) {
    const unsigned a[] = {four(x, row + group, k), four(x, row + group + 8, k), four(x, row + group, k + 16),
                          four(x, row + group + 8, k + 16)};
    const unsigned b[] = {four(w, column + group, k), four(w, column + group, k + 16)};
    asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
}

// Two numbers in e4m3, the first one in the lower byte. Numbers beyond 448 become 448.
__device__ unsigned short pair_of(float first, float second) {
  unsigned short pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %2, %1;" : "=h"(pair) : "f"(first), "f"(second));
  return pair;
}

// One warp quantizes row blockIdx.x of x. The scale of a row is its largest magnitude, but at most `limit`, divided by
// 448. An element becomes the e4m3 number nearest to element / scale. If the row has a larger magnitude than `limit`,
// such elements become 448 or -448; a NaN stays NaN. If all elements are zero, the scale is 1.
extern "C" __global__ void quantize_rows(const __nv_bfloat16* x, unsigned char* elements, float* scales, float limit) {
  constexpr int kVectors = kColumns / 256;  // of a lane, eight elements each
  const int lane = threadIdx.x;
  const auto* const row = reinterpret_cast<const uint4*>(x + blockIdx.x * kColumns);
  float numbers[kVectors][8], largest = 0;
  for (int v = 0; v < kVectors; ++v) {
    const uint4 vector = row[v * 32 + lane];
    const unsigned pairs[] = {vector.x, vector.y, vector.z, vector.w};
    for (int i = 0; i < 8; ++i) {
      numbers[v][i] = __uint_as_float(i % 2 == 0 ? pairs[i / 2] << 16 : pairs[i / 2] & 0xffff0000);
      largest = fmaxf(largest, numbers[v][i]);  // ignores a NaN
    }
  }
  for (int d = 1; d < 32; d *= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, d));
  largest = fminf(largest, limit);
  const float scale = largest > 0 ? largest / kLargest : 1;
  if (lane == 0) scales[blockIdx.x] = scale;
  for (int v = 0; v < kVectors; ++v) {
    ushort4 vector;
    vector.x = pair_of(numbers[v][0] / scale, numbers[v][1] / scale);
    vector.y = pair_of(numbers[v][2] / scale, numbers[v][3] / scale);
    vector.z = pair_of(numbers[v][4] / scale, numbers[v][5] / scale);
    vector.w = pair_of(numbers[v][6] / scale, numbers[v][7] / scale);
    reinterpret_cast<ushort4*>(elements + blockIdx.x * kColumns)[v * 32 + lane] = vector;
  }
}

// y = x · wᵀ from quantized rows and their scales. One warp computes 16 × 8 elements of y.
extern "C" __global__ void scaled_product(const unsigned char* x, const float* x_scales, const unsigned char* w,
                                          const float* w_scales, __nv_bfloat16* y, int columns) {
  const int row = blockIdx.y * 16, column = blockIdx.x * 8;
  float sums[4] = {};
  multiply(sums, x, w, row, column);
  const int first = row + threadIdx.x / 4, at = column + threadIdx.x % 4 * 2;
  const float2 of_w = *reinterpret_cast<const float2*>(w_scales + at);
  for (int i = 0; i < 2; ++i) {
    const int here = first + 8 * i;
    const float of_x = x_scales[here];
    const unsigned pair = ampere::packed(sums[2 * i] * (of_x * of_w.x), sums[2 * i + 1] * (of_x * of_w.y));
    *reinterpret_cast<unsigned*>(y + here * columns + at) = pair;
  }
}
