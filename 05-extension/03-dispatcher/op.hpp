// y = x² + b on the CPU, and its gradient with respect to x. These are plain functions of tensors, independent of
// Python, the dispatcher and autograd.
#pragma once

#include <ATen/ATen.h>
#include <ATen/OpMathType.h>
#include <ATen/TensorIterator.h>

// Computes out = f(left, right) for each element. TensorIterator broadcasts, follows strides and uses several threads.
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
  TORCH_CHECK(x.is_cpu() && other.is_cpu(), "square_plus runs on the CPU, but x is on ", x.device(), " and ", name,
              " is on ", other.device(), ".");
  TORCH_CHECK(x.is_floating_point(), "square_plus takes floating-point numbers, but x is ", x.scalar_type(), ".");
  TORCH_CHECK(x.scalar_type() == other.scalar_type(), "square_plus takes inputs of the same type, but x is ",
              x.scalar_type(), " and ", name, " is ", other.scalar_type(), ".");
  TORCH_CHECK(at::is_expandable_to(other.sizes(), x.sizes()), "square_plus cannot broadcast ", name, " of shape ",
              other.sizes(), " to x's shape, ", x.sizes(), ".");
}

inline at::Tensor square_plus(const at::Tensor& x, const at::Tensor& b) {
  check(x, b, "b");
  at::Tensor y = at::empty_like(x);
  for_each(y, x, b, [](auto x, auto b) { return x * x + b; });
  return y;
}

// Writes the result into y, which the caller has allocated.
inline void square_plus_into(const at::Tensor& x, const at::Tensor& b, at::Tensor& y) {
  check(x, b, "b");
  check(x, y, "y");
  TORCH_CHECK(y.sizes() == x.sizes(), "square_plus_into needs a y of x's shape, ", x.sizes(), ".");
  for_each(y, x, b, [](auto x, auto b) { return x * x + b; });
}

// The gradient with respect to x. The gradient with respect to b is a sum, for which PyTorch has sum_to_size.
inline at::Tensor square_plus_dx(const at::Tensor& x, const at::Tensor& g) {
  check(x, g, "g");
  at::Tensor dx = at::empty_like(x);
  for_each(dx, x, g, [](auto x, auto g) { return 2 * x * g; });
  return dx;
}
