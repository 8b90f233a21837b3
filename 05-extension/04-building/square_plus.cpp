// y = x² + b as a loop in C++, and a Python module with this one function. The build defines the name of the module.
#include <ATen/ATen.h>
#include <torch/csrc/utils/pybind.h>

at::Tensor square_plus(const at::Tensor& x, float b) {
  TORCH_CHECK(x.is_cpu() && x.is_contiguous(), "square_plus takes a contiguous tensor on the CPU.");
  at::Tensor result = at::empty_like(x);
  const float* from = x.const_data_ptr<float>();
  float* to = result.mutable_data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = from[i] * from[i] + b;
  return result;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) { module.def("square_plus", &square_plus); }
