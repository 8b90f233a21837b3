// y = x² + b on the CPU, and its gradient for x: plain functions of tensors, which know nothing of Python, the
// dispatcher or autograd.
#pragma once

#include <ATen/ATen.h>
#include <ATen/OpMathType.h>
#include <ATen/TensorIterator.h>

// out = f(left, right) for each element. TensorIterator stretches shapes, walks along strides and shares the work among
// threads.
template <typename F>
void for_each(const at::Tensor& out, const at::Tensor& left, const at::Tensor& right, F f) {
  auto iter = at::TensorIteratorConfig().add_output(out).add_const_input(left).add_const_input(right).build();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, out.scalar_type(), "square_plus", [&] {
    using wide = at::opmath_type<scalar_t>;  // half types are computed in float
    iter.for_each([&](char** at, const int64_t* stride, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        const wide l = *reinterpret_cast<const scalar_t*>(at[1] + i * stride[1]);
        const wide r = *reinterpret_cast<const scalar_t*>(at[2] + i * stride[2]);
        *reinterpret_cast<scalar_t*>(at[0] + i * stride[0]) = f(l, r);
      }
    });
  });
}

inline void check(const at::Tensor& x, const at::Tensor& other, const char* name) {
  TORCH_CHECK(x.is_cpu() && other.is_cpu(), "square_plus runs on the CPU: x is on ", x.device(), ", ", name, " on ",
              other.device());
  TORCH_CHECK(x.is_floating_point(), "square_plus is for floating-point numbers: x is ", x.scalar_type());
  TORCH_CHECK(x.scalar_type() == other.scalar_type(), "square_plus wants one type: x is ", x.scalar_type(), ", ", name,
              " is ", other.scalar_type());
  TORCH_CHECK(at::is_expandable_to(other.sizes(), x.sizes()), "square_plus: ", name, " of shape ", other.sizes(),
              " does not stretch to x's shape, ", x.sizes());
}

inline at::Tensor square_plus(const at::Tensor& x, const at::Tensor& b) {
  check(x, b, "b");
  at::Tensor y = at::empty_like(x);
  for_each(y, x, b, [](auto x, auto b) { return x * x + b; });
  return y;
}

// b's gradient is g, added up over what b was stretched to: PyTorch has that already, sum_to_size.
inline at::Tensor square_plus_dx(const at::Tensor& x, const at::Tensor& g) {
  check(x, g, "g");
  at::Tensor dx = at::empty_like(x);
  for_each(dx, x, g, [](auto x, auto g) { return 2 * x * g; });
  return dx;
}
