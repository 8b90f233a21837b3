// Rejected with: "the fake implementation rejects the same inputs"
// Only the function with data checks its argument.
#include <ATen/ATen.h>
#include <ATen/OpMathType.h>
#include <torch/library.h>

void check(const at::Tensor& g) {
  TORCH_CHECK(g.dim() == 2, "column_sums takes rows and columns, but g has ", g.dim(), " dimensions.");
  TORCH_CHECK(g.is_floating_point(), "column_sums takes floating-point numbers, but g is ", g.scalar_type(), ".");
}

at::Tensor column_sums(const at::Tensor& g) {
  check(g);
  at::Tensor db = at::empty({g.size(1)}, g.options());
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, g.scalar_type(), "column_sums", [&] {
    const scalar_t* from = g.const_data_ptr<scalar_t>();
    scalar_t* to = db.mutable_data_ptr<scalar_t>();
    for (int64_t column = 0; column < g.size(1); ++column) {
      at::opmath_type<scalar_t> sum = 0;
      for (int64_t row = 0; row < g.size(0); ++row) sum += from[row * g.stride(0) + column * g.stride(1)];
      to[column] = static_cast<scalar_t>(sum);
    }
  });
  return db;
}

at::Tensor column_sums_fake(const at::Tensor& g) { return g.new_empty_symint({g.sym_size(1)}); }

TORCH_LIBRARY(answer, library) { library.def("column_sums(Tensor g) -> Tensor"); }

TORCH_LIBRARY_IMPL(answer, CPU, library) { library.impl("column_sums", &column_sums); }

TORCH_LIBRARY_IMPL(answer, Meta, library) { library.impl("column_sums", &column_sums_fake); }
