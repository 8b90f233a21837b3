// The gradient of a b that every row shares: the sum of g over its rows, one number a column.
#include <ATen/ATen.h>
#include <ATen/OpMathType.h>
#include <torch/library.h>

// g has two dimensions, any strides, and a floating-point type, which the result keeps; its sums are made in
// at::opmath_type of it. Anything else is refused by TORCH_CHECK, in a sentence that begins with "column_sums".
at::Tensor column_sums(const at::Tensor& g) {
  // Your code here.
  return at::zeros({g.size(1)}, g.options());
}

TORCH_LIBRARY(answer, library) { library.def("column_sums(Tensor g) -> Tensor"); }

TORCH_LIBRARY_IMPL(answer, CPU, library) { library.impl("column_sums", &column_sums); }

// Your code here: the shape function, for tensors without data. It refuses what column_sums refuses, and makes an empty
// tensor of the right shape. A TORCH_LIBRARY_IMPL as above, but for the key Meta, registers it.
