// Quantize the rows of x to e4m3, multiply them by weights that are quantized already, and scale the sums.
#include "04-kernels/ampere.hpp"

constexpr int kColumns = 512;    // of x and of w: products of each sum

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

// One warp quantizes row blockIdx.x of x. The scale of a row is its largest magnitude, but at most `limit`, divided by
// 448. An element becomes the e4m3 number nearest to element / scale. If the row has a larger magnitude than `limit`,
// such elements become 448 or -448; a NaN stays NaN. If all elements are zero, the scale is 1.
extern "C" __global__ void quantize_rows(const __nv_bfloat16* x, unsigned char* elements, float* scales, float limit) {
  // Your code here. Load each element of x once, and convert two numbers with one instruction.
}

// y = x · wᵀ from quantized rows and their scales. One warp computes 16 × 8 elements of y.
extern "C" __global__ void scaled_product(const unsigned char* x, const float* x_scales, const unsigned char* w,
                                          const float* w_scales, __nv_bfloat16* y, int columns) {
  const int row = blockIdx.y * 16, column = blockIdx.x * 8;
  float sums[4] = {};
  multiply(sums, x, w, row, column);
  // Your code here. Scale the sums, and store them to y, which has `columns` columns.
}
