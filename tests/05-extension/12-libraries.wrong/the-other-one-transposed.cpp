// Rejected with: "a linear layer uses its weights transposed, without a copy"
// Transposes the second argument, because w is the second factor in the formula.
#include "05-extension/12-libraries/libraries.hpp"

struct Matrix {
  float* data;
  int rows, columns, stride;
};

int multiply(Sgemm sgemm, void* handle, const Matrix& a, const Matrix& b, const Matrix& c) {
  const float one = 1, zero = 0;
  return sgemm(handle, 0, 0, c.columns, c.rows, a.columns, &one, b.data, b.stride, a.data, a.stride, &zero, c.data,
               c.stride);
}

int linear(Sgemm sgemm, void* handle, const Matrix& x, const Matrix& w, const Matrix& y) {
  const float one = 1, zero = 0;
  return sgemm(handle, 0, 1, y.columns, y.rows, x.columns, &one, w.data, w.stride, x.data, x.stride, &zero, y.data,
               y.stride);
}
