// Write two products that a program in C or PyTorch needs, by a library that stores its matrices the other way.
#include "05-extension/08-libraries/libraries.hpp"

// A matrix as C and PyTorch store it: row by row, rows `stride` numbers apart, stride >= columns.
struct Matrix {
  float* data;
  int rows, columns, stride;
};

// c = a b. a is c.rows x a.columns, b is a.columns x c.columns. What c held before does not matter.
// `sgemm` is cublasSgemm, or something of its kind: see libraries.hpp. Returns what it answers.
int multiply(Sgemm sgemm, void* handle, const Matrix& a, const Matrix& b, const Matrix& c) {
  // What lies in rows is, read in columns, the transposed matrix; and c' = (a b)' = b' a'. So all three are already
  // what the library wants, if b comes first.
  const float one = 1, zero = 0;
  return sgemm(handle, 0, 0, c.columns, c.rows, a.columns, &one, b.data, b.stride, a.data, a.stride, &zero, c.data,
               c.stride);
}

// A linear layer, as torch.nn.Linear stores it: y = x w', where w' is w transposed; a row of x for each example and a
// row of w for each output. x is y.rows x x.columns, w is y.columns x x.columns. Nothing is copied or transposed
// beforehand.
int linear(Sgemm sgemm, void* handle, const Matrix& x, const Matrix& w, const Matrix& y) {
  // y' = (x w')' = w x'. The library sees w' in w's place and turns it round: op_a = 1.
  const float one = 1, zero = 0;
  return sgemm(handle, 1, 0, y.columns, y.rows, x.columns, &one, w.data, w.stride, x.data, x.stride, &zero, y.data,
               y.stride);
}
