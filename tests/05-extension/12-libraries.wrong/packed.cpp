// Rejected with: "rows with a stride larger than their length"
// Passes the length of a row instead of the distance to the next one.
#include "05-extension/12-libraries/libraries.hpp"

struct Matrix {
  float* data;
  int rows, columns, stride;
};

int multiply(Sgemm sgemm, void* handle, const Matrix& a, const Matrix& b, const Matrix& c) {
  const float one = 1, zero = 0;
  return sgemm(handle, 0, 0, c.columns, c.rows, a.columns, &one, b.data, b.columns, a.data, a.columns, &zero, c.data,
               c.columns);
}

int linear(Sgemm sgemm, void* handle, const Matrix& x, const Matrix& w, const Matrix& y) {
  const float one = 1, zero = 0;
  return sgemm(handle, 1, 0, y.columns, y.rows, x.columns, &one, w.data, w.stride, x.data, x.stride, &zero, y.data,
               y.stride);
}
