// Two products of matrices in rows by a library that stores columns.
#include "05-extension/08-libraries/libraries.hpp"

// A matrix as C and PyTorch store it: row by row, rows `stride` numbers apart, stride >= columns.
struct Matrix {
  float* data;
  int rows, columns, stride;
};

// What lies in rows is, read in columns, the transposed matrix; and c' = (a b)' = b' a'. So all three are already what
// the library wants, if b comes first.
int multiply(Sgemm sgemm, void* handle, const Matrix& a, const Matrix& b, const Matrix& c) {
  const float one = 1, zero = 0;
  return sgemm(handle, 0, 0, c.columns, c.rows, a.columns, &one, b.data, b.stride, a.data, a.stride, &zero, c.data,
               c.stride);
}

// y' = (x w')' = w x'. The library sees w' in w's place and turns it round: op_a = 1.
int linear(Sgemm sgemm, void* handle, const Matrix& x, const Matrix& w, const Matrix& y) {
  const float one = 1, zero = 0;
  return sgemm(handle, 1, 0, y.columns, y.rows, x.columns, &one, w.data, w.stride, x.data, x.stride, &zero, y.data,
               y.stride);
}
