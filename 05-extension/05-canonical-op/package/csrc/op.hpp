// What the CPU and the CUDA implementation share: the formulas, the types and the checks.
#pragma once
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/Dispatch.h>
#include <torch/headeronly/core/ScalarType.h>

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

// Half types are computed in float, so that only the result is rounded to 16 bits.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

struct Forward {  // y = x² + b
  template <class T>
  C10_HOST_DEVICE T operator()(T x, T b) const {
    const Wide<T> wide = static_cast<Wide<T>>(x);
    return static_cast<T>(wide * wide + static_cast<Wide<T>>(b));
  }
};

struct Backward {  // dx = 2 x g
  template <class T>
  C10_HOST_DEVICE T operator()(T x, T g) const {
    return static_cast<T>(2 * static_cast<Wide<T>>(x) * static_cast<Wide<T>>(g));
  }
};

// Runs a lambda in which scalar_t is the C++ type of the elements. Other dtypes are rejected.
#define DISPATCH(dtype, ...)                                                                                \
  THO_DISPATCH_SWITCH(                                                                                      \
      dtype, "square_plus",                                                                                 \
      THO_DISPATCH_CASE(ScalarType::Half, __VA_ARGS__) THO_DISPATCH_CASE(ScalarType::BFloat16, __VA_ARGS__) \
          THO_DISPATCH_CASE(ScalarType::Float, __VA_ARGS__) THO_DISPATCH_CASE(ScalarType::Double, __VA_ARGS__))

inline void check_alike(const Tensor& first, const Tensor& second) {
  STD_TORCH_CHECK(first.sizes().equals(second.sizes()), "square_plus: the two tensors must have the same shape");
  STD_TORCH_CHECK(first.scalar_type() == second.scalar_type(), "square_plus: one tensor is ",
                  torch::headeronly::toString(first.scalar_type()), ", the other ",
                  torch::headeronly::toString(second.scalar_type()), "; both must have the same dtype");
  STD_TORCH_CHECK(first.device() == second.device(), "square_plus: both tensors must be on the same device");
}
