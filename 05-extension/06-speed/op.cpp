// torch.ops.speed: y = x² + b with its gradients, and the product of two matrices; each by loops on the CPU, by our
// kernels on a GPU. No Python between the call and the kernel: the op, its autograd function and its launches are C++.
//
//   use_kernels(path)            where kernels.ptx is, before anything else
//   square_plus(x, b)            float32; b has one number a column of x. Differentiable, twice as well
//   square_plus_backward(g, x)   dx and db, for who wants no autograd
//   multiply(a, b)               float32
//   …_by_driver(…)               the same kernels on host tensors, through the driver API alone: wherever there is a
//                                driver, PyTorch may be without CUDA
#include <ATen/ATen.h>
#include <torch/library.h>

#include "kernels.hpp"
#include "loops.hpp"
#include "stream.hpp"

#include <torch/csrc/autograd/custom_function.h>

#include <array>
#include <limits>
#include <mutex>
#include <string>
#include <tuple>

namespace {

using at::Tensor;
using Gradients = std::tuple<Tensor, Tensor>;  // dx, db

// ---- the kernels of a device ----

// The path of kernels.ptx, once use_kernels() has said it.
std::string image;

void use_kernels(const std::string& path) { image = path; }

// The primary context is PyTorch's, too. Neither it nor the kernels are given back: the process's end does that, and a
// static object's destructor might come after the driver's.
struct OnDevice {
  CUcontext context = nullptr;
  const Kernels* kernels = nullptr;

  explicit OnDevice(int ordinal) {
    TORCH_CHECK(!image.empty(), "speed: say first where kernels.ptx is, by use_kernels()");
    CUdevice device;
    CU_THROW(cuInit(0));
    CU_THROW(cuDeviceGet(&device, ordinal));
    CU_THROW(cuDevicePrimaryCtxRetain(&context, device));
    CU_THROW(cuCtxSetCurrent(context));
    kernels = new Kernels(image);
  }
};

// Makes the device's context current: autograd's threads come without one.
const Kernels& kernels_of(int device) {
  static std::array<std::once_flag, 64> once;
  static std::array<const OnDevice*, 64> made;
  std::call_once(once.at(device), [&] { made[device] = new OnDevice(device); });
  CUcontext current;
  CU_THROW(cuCtxGetCurrent(&current));
  if (current != made[device]->context) CU_THROW(cuCtxSetCurrent(made[device]->context));
  return *made[device]->kernels;
}

CUdeviceptr address(const Tensor& tensor) { return reinterpret_cast<CUdeviceptr>(tensor.data_ptr()); }

int length(int64_t number) {
  TORCH_CHECK(number <= std::numeric_limits<int>::max(), "speed: a length of ", number, " is beyond an int");
  return static_cast<int>(number);
}

// ---- y = x² + b ----

void check(const Tensor& x, const Tensor& b) {
  TORCH_CHECK(x.scalar_type() == at::kFloat && b.scalar_type() == at::kFloat, "square_plus takes float32, not ",
              x.scalar_type(), " and ", b.scalar_type());
  TORCH_CHECK(x.dim() > 0 && b.dim() == 1 && b.size(0) == x.size(-1), "square_plus wants one b a column of x, not x ",
              x.sizes(), " and b ", b.sizes());
  TORCH_CHECK(x.device() == b.device(), "square_plus wants x and b on one device, not ", x.device(), " and ",
              b.device());
}

Tensor forward(const Tensor& any_x, const Tensor& any_b) {
  check(any_x, any_b);
  const Tensor x = any_x.contiguous(), b = any_b.contiguous(), y = at::empty(x.sizes(), x.options());
  if (x.numel() == 0) return y;
  const int columns = length(b.numel()), rows = length(x.numel() / columns);
  if (x.is_cuda()) {
    kernels_of(x.get_device())
        .forward(current_stream(x.get_device()), address(x), address(b), address(y), rows, columns);
  } else {
    loops::forward(x.const_data_ptr<float>(), b.const_data_ptr<float>(), y.mutable_data_ptr<float>(), rows, columns);
  }
  return y;
}

Gradients backward(const Tensor& any_g, const Tensor& any_x) {
  const Tensor g = any_g.contiguous(), x = any_x.contiguous(), dx = at::empty(x.sizes(), x.options());
  const int columns = length(x.size(-1));
  if (x.numel() == 0) return {dx, at::zeros({columns}, x.options())};
  const int rows = length(x.numel() / columns);
  if (!x.is_cuda()) {
    const Tensor db = at::empty({columns}, x.options());
    loops::backward(g.const_data_ptr<float>(), x.const_data_ptr<float>(), dx.mutable_data_ptr<float>(),
                    db.mutable_data_ptr<float>(), rows, columns);
    return {dx, db};
  }
  const Kernels& kernels = kernels_of(x.get_device());
  const CUstream stream = current_stream(x.get_device());
  const CUdeviceptr all = address(g) | address(x) | address(dx);  // what PyTorch allocates begins at a multiple of 512
  const int down = static_cast<int>(kernels.sums(rows, columns, all));
  const Tensor sums = at::empty({down * columns}, x.options());
  kernels.backward(stream, address(g), address(x), address(dx), address(sums), rows, columns, all);
  if (down == 1) return {dx, sums};
  const Tensor db = at::empty({columns}, x.options());
  kernels.add_up(stream, address(sums), address(db), down, columns);
  return {dx, db};
}

Gradients checked_backward(const Tensor& g, const Tensor& x) {
  TORCH_CHECK(g.scalar_type() == at::kFloat && x.scalar_type() == at::kFloat && g.sizes() == x.sizes() && x.dim() > 0 &&
                  g.device() == x.device(),
              "square_plus_backward wants g and x in float32, in one shape and on one device");
  return backward(g, x);
}

struct SquarePlus : torch::autograd::Function<SquarePlus> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x, const Tensor& b) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({x});
    return ::forward(x, b);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const Tensor x = context->get_saved_variables()[0], &g = gradients[0];
    if (at::GradMode::is_enabled()) {  // somebody will differentiate this, too: in steps that PyTorch knows
      return {2 * g * x, g.reshape({-1, x.size(-1)}).sum(0)};
    }
    auto [dx, db] = ::backward(g, x);
    return {dx, db};
  }
};

// ---- the product of two matrices ----

Tensor multiply(const Tensor& any_a, const Tensor& any_b) {
  TORCH_CHECK(any_a.scalar_type() == at::kFloat && any_b.scalar_type() == at::kFloat, "multiply takes float32");
  TORCH_CHECK(any_a.dim() == 2 && any_b.dim() == 2 && any_a.size(1) == any_b.size(0), "multiply cannot take ",
              any_a.sizes(), " times ", any_b.sizes());
  TORCH_CHECK(any_a.device() == any_b.device(), "multiply wants both on one device");
  const Tensor a = any_a.contiguous(), b = any_b.contiguous();
  const int m = length(a.size(0)), n = length(b.size(1)), k = length(a.size(1));
  const Tensor c = at::empty({m, n}, a.options());
  if (c.numel() == 0) return c;
  if (a.is_cuda()) {
    kernels_of(a.get_device()).multiply(current_stream(a.get_device()), address(a), address(b), address(c), m, n, k);
  } else {
    loops::multiply(a.const_data_ptr<float>(), b.const_data_ptr<float>(), c.mutable_data_ptr<float>(), m, n, k);
  }
  return c;
}

// ---- the kernels without PyTorch: host tensors, device 0 ----

// Device memory, filled from a tensor or with junk, so that what a kernel forgets shows.
struct There : cu::Memory {
  explicit There(std::size_t bytes) : cu::Memory(bytes) { CU_THROW(cuMemsetD8(address, 0xee, bytes)); }
  explicit There(const Tensor& from) : cu::Memory(from.nbytes()) {
    CU_THROW(cuMemcpyHtoD(address, from.const_data_ptr(), from.nbytes()));
  }
  Tensor read(at::IntArrayRef sizes) const {
    const Tensor back = at::empty(sizes);
    CU_THROW(cuMemcpyDtoH(back.mutable_data_ptr(), address, back.nbytes()));
    return back;
  }
};

Tensor forward_by_driver(const Tensor& x, const Tensor& b) {
  check(x, b);
  const Kernels& kernels = kernels_of(0);
  const int columns = length(b.numel()), rows = length(x.numel() / columns);
  const There there_x(x.contiguous()), there_b(b.contiguous()), y(x.nbytes());
  kernels.forward(nullptr, there_x.address, there_b.address, y.address, rows, columns);
  return y.read(x.sizes());
}

Gradients backward_by_driver(const Tensor& g, const Tensor& x) {
  const Kernels& kernels = kernels_of(0);
  const int columns = length(x.size(-1)), rows = length(x.numel() / columns);
  const There there_g(g.contiguous()), there_x(x.contiguous()), dx(x.nbytes()), db(columns * sizeof(float));
  const CUdeviceptr all = there_g.address | there_x.address | dx.address;
  const int down = static_cast<int>(kernels.sums(rows, columns, all));
  const There sums(down * columns * sizeof(float));
  kernels.backward(nullptr, there_g.address, there_x.address, dx.address, sums.address, rows, columns, all);
  if (down == 1) return {dx.read(x.sizes()), sums.read({columns})};
  kernels.add_up(nullptr, sums.address, db.address, down, columns);
  return {dx.read(x.sizes()), db.read({columns})};
}

Tensor multiply_by_driver(const Tensor& a, const Tensor& b) {
  const Kernels& kernels = kernels_of(0);
  const int m = length(a.size(0)), n = length(b.size(1)), k = length(a.size(1));
  const There there_a(a.contiguous()), there_b(b.contiguous()), c(sizeof(float) * m * n);
  kernels.multiply(nullptr, there_a.address, there_b.address, c.address, m, n, k);
  return c.read({m, n});
}

Tensor square_plus(const Tensor& x, const Tensor& b) { return SquarePlus::apply(x, b); }

}  // namespace

TORCH_LIBRARY(speed, library) {
  library.def("use_kernels(str path) -> ()", use_kernels);
  library.def("square_plus(Tensor x, Tensor b) -> Tensor");
  library.def("square_plus_backward(Tensor g, Tensor x) -> (Tensor, Tensor)", checked_backward);
  library.def("multiply(Tensor a, Tensor b) -> Tensor", multiply);
  library.def("square_plus_by_driver(Tensor x, Tensor b) -> Tensor", forward_by_driver);
  library.def("square_plus_backward_by_driver(Tensor g, Tensor x) -> (Tensor, Tensor)", backward_by_driver);
  library.def("multiply_by_driver(Tensor a, Tensor b) -> Tensor", multiply_by_driver);
}
TORCH_LIBRARY_IMPL(speed, CPU, library) { library.impl("square_plus", forward); }
TORCH_LIBRARY_IMPL(speed, CUDA, library) { library.impl("square_plus", forward); }
TORCH_LIBRARY_IMPL(speed, Autograd, library) { library.impl("square_plus", square_plus); }
