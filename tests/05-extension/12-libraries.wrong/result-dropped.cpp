// Rejected with: "the library's error code is returned"
// The library's error code is ignored, because it is not one of the driver's.
#include "05-extension/12-libraries/libraries.hpp"

struct Matrix {
  float* data;
  int rows, columns, stride;
};

int multiply(Sgemm sgemm, void* handle, const Matrix& a, const Matrix& b, const Matrix& c) {
  const float one = 1, zero = 0;
  sgemm(handle, 0, 0, c.columns, c.rows, a.columns, &one, b.data, b.stride, a.data, a.stride, &zero, c.data, c.stride);
  return 0;
}

int linear(Sgemm sgemm, void* handle, const Matrix& x, const Matrix& w, const Matrix& y) {
  const float one = 1, zero = 0;
  sgemm(handle, 1, 0, y.columns, y.rows, x.columns, &one, w.data, w.stride, x.data, x.stride, &zero, y.data, y.stride);
  return 0;
}
