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

// Your code here: a function for tensors without data (Meta), which makes an empty one of the right shape.
