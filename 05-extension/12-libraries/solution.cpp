// Write two matrix products for row-major matrices, with a library that reads matrices column by column.
#include "05-extension/12-libraries/libraries.hpp"

// A matrix stored row by row, as in C and PyTorch. The rows start `stride` numbers apart, and stride >= columns.
struct Matrix {
  float* data;
  int rows, columns, stride;
};

// Computes c = a b. a is c.rows x a.columns, and b is a.columns x c.columns. The old contents of c do not matter.
// `sgemm` is cublasSgemm or a function with the same interface (see libraries.hpp). Returns its error code.
int multiply(Sgemm sgemm, void* handle, const Matrix& a, const Matrix& b, const Matrix& c) {
  // The library reads a row-major matrix as its transpose, and c' = (a b)' = b' a'. So b is the first argument.
  const float one = 1, zero = 0;
  return sgemm(handle, 0, 0, c.columns, c.rows, a.columns, &one, b.data, b.stride, a.data, a.stride, &zero, c.data,
               c.stride);
}

// Computes a linear layer with the weights as torch.nn.Linear stores them: y = x w', where w' is w transposed. x is
// y.rows x x.columns, with a row for each example. w is y.columns x x.columns, with a row for each output. Nothing is
// copied or transposed beforehand.
int linear(Sgemm sgemm, void* handle, const Matrix& x, const Matrix& w, const Matrix& y) {
  // y' = (x w')' = w x'. The library reads w as w', so it has to transpose it again: op_a = 1.
  const float one = 1, zero = 0;
  return sgemm(handle, 1, 0, y.columns, y.rows, x.columns, &one, w.data, w.stride, x.data, x.stride, &zero, y.data,
               y.stride);
}
