// Rejected with: "the old contents of the result do not matter"
// beta = 1 adds to the old contents of c, which are not always zero.
#include "05-extension/12-libraries/libraries.hpp"

struct Matrix {
  float* data;
  int rows, columns, stride;
};

int multiply(Sgemm sgemm, void* handle, const Matrix& a, const Matrix& b, const Matrix& c) {
  const float one = 1;
  return sgemm(handle, 0, 0, c.columns, c.rows, a.columns, &one, b.data, b.stride, a.data, a.stride, &one, c.data,
               c.stride);
}

int linear(Sgemm sgemm, void* handle, const Matrix& x, const Matrix& w, const Matrix& y) {
  const float one = 1;
  return sgemm(handle, 1, 0, y.columns, y.rows, x.columns, &one, w.data, w.stride, x.data, x.stride, &one, y.data,
               y.stride);
}
