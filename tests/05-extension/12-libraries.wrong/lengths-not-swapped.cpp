// Rejected with: "a product of matrices that are not square"
// b is the first matrix, but m and n have not been swapped.
#include "05-extension/12-libraries/libraries.hpp"

struct Matrix {
  float* data;
  int rows, columns, stride;
};

int multiply(Sgemm sgemm, void* handle, const Matrix& a, const Matrix& b, const Matrix& c) {
  const float one = 1, zero = 0;
  return sgemm(handle, 0, 0, c.rows, c.columns, a.columns, &one, b.data, b.stride, a.data, a.stride, &zero, c.data,
               c.stride);
}

int linear(Sgemm sgemm, void* handle, const Matrix& x, const Matrix& w, const Matrix& y) {
  const float one = 1, zero = 0;
  return sgemm(handle, 1, 0, y.columns, y.rows, x.columns, &one, w.data, w.stride, x.data, x.stride, &zero, y.data,
               y.stride);
}
