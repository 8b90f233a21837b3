// Rejected with: "a product of square matrices"
// The arguments are in the order for a library that reads rows. The result is b times a.
#include "05-extension/12-libraries/libraries.hpp"

struct Matrix {
  float* data;
  int rows, columns, stride;
};

int multiply(Sgemm sgemm, void* handle, const Matrix& a, const Matrix& b, const Matrix& c) {
  const float one = 1, zero = 0;
  return sgemm(handle, 0, 0, c.rows, c.columns, a.columns, &one, a.data, a.stride, b.data, b.stride, &zero, c.data,
               c.stride);
}

int linear(Sgemm sgemm, void* handle, const Matrix& x, const Matrix& w, const Matrix& y) {
  const float one = 1, zero = 0;
  return sgemm(handle, 1, 0, y.columns, y.rows, x.columns, &one, w.data, w.stride, x.data, x.stride, &zero, y.data,
               y.stride);
}
