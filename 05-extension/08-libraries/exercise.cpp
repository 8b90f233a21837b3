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
  // Your code here: one call.
  (void)sgemm, (void)handle, (void)a, (void)b, (void)c;
  return 0;
}

// A linear layer, as torch.nn.Linear stores it: y = x w', where w' is w transposed; a row of x for each example and a
// row of w for each output. x is y.rows x x.columns, w is y.columns x x.columns. Nothing is copied or transposed
// beforehand.
int linear(Sgemm sgemm, void* handle, const Matrix& x, const Matrix& w, const Matrix& y) {
  // Your code here: one call.
  (void)sgemm, (void)handle, (void)x, (void)w, (void)y;
  return 0;
}
