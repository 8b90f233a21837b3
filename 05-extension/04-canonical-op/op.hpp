// What the host's side of an op with these kernels wants again and again.
#pragma once
#include <ATen/ATen.h>
#include <torch/library.h>

#include "05-extension/04-canonical-op/op.h"

inline int type_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kHalf: return SQUARE_HALF;
    case at::kBFloat16: return SQUARE_BFLOAT16;
    case at::kFloat: return SQUARE_FLOAT;
    case at::kDouble: return SQUARE_DOUBLE;
    default: TORCH_CHECK(false, "square is for floating-point numbers, not for ", tensor.scalar_type());
  }
}

// The launch for a result of this type and size: blocks of 256 threads, 16 bytes a thread.
inline square_launch launch_for(int kernel, const at::Tensor& first, const at::Tensor& second,
                                const at::Tensor& result) {
  const long long count = result.numel(), of_block = 256 * 16 / result.element_size();
  const unsigned blocks = (count + of_block - 1) / of_block;
  return {
      kernel, type_of(result), blocks, 256, first.const_data_ptr(), second.const_data_ptr(), result.mutable_data_ptr(),
      count};
}

// Throws unless the code is 0; in whose words depends on where the tensor is.
inline void check_launch(int code, const at::Tensor& result) {
  TORCH_CHECK(code == 0, "square's kernel was not launched: ",
              result.is_cuda() ? square_device_message(code) : square_host_message(code));
}
