// The op for PyTorch: square::forward and square::backward, for tensors on the GPU, and for those in host memory, which
// are copied there and back.
#include "05-extension/04-canonical-op/op.hpp"

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

namespace {

// One kernel, on two tensors that are alike.
at::Tensor result_of(int kernel, const at::Tensor& first, const at::Tensor& second) {
  TORCH_CHECK(first.sizes() == second.sizes(), "square wants one shape, not ", first.sizes(), " and ", second.sizes());
  TORCH_CHECK(first.dtype() == second.dtype(), "square wants one type, not ", first.dtype(), " and ", second.dtype());
  TORCH_CHECK(first.device() == second.device(), "square wants one device, not ", first.device(), " and ",
              second.device());
  // The kernel counts through memory. This copies what does not lie there in order, and only that.
  const at::Tensor one = first.contiguous();
  const at::Tensor other = second.contiguous();
  at::Tensor result = at::empty_like(one);
  const square_launch launch = launch_for(kernel, one, other, result);
  if (launch.count == 0) return result;  // a grid of no blocks is an error

  if (result.is_cuda()) {
    const c10::cuda::CUDAGuard guard(result.device());  // makes it current; at the block's end, the one before again
    check_launch(square_on_device(&launch, c10::cuda::getCurrentCUDAStream()), result);
  } else {
    check_launch(square_on_host(&launch), result);
  }
  return result;
}

at::Tensor forward(const at::Tensor& x, const at::Tensor& b) { return result_of(SQUARE_FORWARD, x, b); }
at::Tensor backward(const at::Tensor& x, const at::Tensor& g) { return result_of(SQUARE_BACKWARD, x, g); }

// For torch.compile, which asks only what the result will look like.
at::Tensor shape_of(const at::Tensor& first, const at::Tensor&) {
  return at::empty_like(first, at::MemoryFormat::Contiguous);
}

}  // namespace

TORCH_LIBRARY(square, library) {
  library.def("forward(Tensor x, Tensor b) -> Tensor");
  library.def("backward(Tensor x, Tensor g) -> Tensor");
  library.def("use_image(str file) -> ()", [](const std::string& file) { square_use_image(file.c_str()); });
  library.def("launches() -> int", [] { return static_cast<int64_t>(square_launches()); });
}

TORCH_LIBRARY_IMPL(square, CPU, library) {
  library.impl("forward", forward);
  library.impl("backward", backward);
}

TORCH_LIBRARY_IMPL(square, CUDA, library) {
  library.impl("forward", forward);
  library.impl("backward", backward);
}

TORCH_LIBRARY_IMPL(square, Meta, library) {
  library.impl("forward", shape_of);
  library.impl("backward", shape_of);
}
