// torch.ops.speed: y = x² + b with its gradients, and a matrix product. On the CPU they are plain loops, on a GPU the
// kernels of kernels.cu, launched with the driver API. speed.py adds the fake implementations and the gradients.
//
//   use_kernels(path)            tells the library where kernels.ptx is; call it first
//   square_plus(x, b)            float32; b has one value for each column of x
//   square_plus_backward(g, x)   dx and db
//   square_plus_cpp(x, b)        square_plus with a gradient formula in C++, for comparison
//   multiply(a, b)               float32
//   launches(x, b, g, y, dx, db, times)   launches both kernels, `times` times, and does nothing else
//   …_by_driver(…)               the same kernels on host tensors, with memory from the driver API: these also run
//                                where PyTorch has no GPU but a driver (or the simulator) is available
#include <ATen/ATen.h>
#include <torch/library.h>

#include "kernels.hpp"
#include "loops.hpp"
#include "stream.hpp"

#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>

#include <array>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

namespace {

using at::Tensor;
using Gradients = std::tuple<Tensor, Tensor>;  // dx, db

// ---- the kernels of a device ----

std::string image;  // the path of kernels.ptx, set by use_kernels()

void use_kernels(const std::string& path) { image = path; }

// The primary context, which PyTorch uses too, and the kernels loaded into it. Neither is ever released: a static
// object's destructor might run after the driver has shut down.
struct OnDevice {
  CUcontext context = nullptr;
  const Kernels* kernels = nullptr;

  explicit OnDevice(int ordinal) {
    TORCH_CHECK(!image.empty(), "speed: kernels.ptx is not loaded. Call use_kernels(path) first.");
    CUdevice device;
    CU_THROW(cuInit(0));
    CU_THROW(cuDeviceGet(&device, ordinal));
    CU_THROW(cuDevicePrimaryCtxRetain(&context, device));
    const cu::Current current(context);
    kernels = new Kernels(image);
  }
};

const OnDevice& on_device(int ordinal) {
  static std::array<std::once_flag, 64> once;
  static std::array<const OnDevice*, 64> made;
  std::call_once(once.at(ordinal), [&] { made[ordinal] = new OnDevice(ordinal); });
  return *made[ordinal];
}

// Makes a device's context current until the end of the scope and then restores the caller's. Autograd's threads start
// without a context. Where the right one is already current, which is the usual case, this costs one driver call.
class KernelsOf {
 public:
  explicit KernelsOf(int ordinal) : device_(on_device(ordinal)) {
    CUcontext current;
    CU_THROW(cuCtxGetCurrent(&current));
    if (current != device_.context) entered_.emplace(device_.context);
  }
  const Kernels* operator->() const { return device_.kernels; }

 private:
  const OnDevice& device_;
  std::optional<cu::Current> entered_;
};

CUdeviceptr address(const Tensor& tensor) { return reinterpret_cast<CUdeviceptr>(tensor.data_ptr()); }

int length(int64_t number) {
  TORCH_CHECK(number <= std::numeric_limits<int>::max(), "speed: a length of ", number, " does not fit into an int.");
  return static_cast<int>(number);
}

// ---- y = x² + b ----

void check(const Tensor& x, const Tensor& b) {
  TORCH_CHECK(x.scalar_type() == at::kFloat && b.scalar_type() == at::kFloat, "square_plus takes float32, not ",
              x.scalar_type(), " and ", b.scalar_type(), ".");
  TORCH_CHECK(x.dim() > 0 && b.dim() == 1 && b.size(0) == x.size(-1),
              "square_plus takes one b for each column of x, not x ", x.sizes(), " and b ", b.sizes(), ".");
  TORCH_CHECK(x.device() == b.device(), "square_plus takes x and b on one device, not ", x.device(), " and ",
              b.device(), ".");
}

Tensor forward(const Tensor& any_x, const Tensor& any_b) {
  check(any_x, any_b);
  const Tensor x = any_x.contiguous(), b = any_b.contiguous(), y = at::empty(x.sizes(), x.options());
  if (x.numel() == 0) return y;
  const int columns = length(b.numel()), rows = length(x.numel() / columns);
  if (x.is_cuda()) {
    const int device = x.get_device();
    KernelsOf(device)->forward(current_stream(device), address(x), address(b), address(y), rows, columns);
  } else {
    loops::forward(x.const_data_ptr<float>(), b.const_data_ptr<float>(), y.mutable_data_ptr<float>(), rows, columns);
  }
  return y;
}

Gradients backward(const Tensor& any_g, const Tensor& any_x) {
  TORCH_CHECK(any_g.scalar_type() == at::kFloat && any_x.scalar_type() == at::kFloat &&
                  any_g.sizes() == any_x.sizes() && any_x.dim() > 0 && any_g.device() == any_x.device(),
              "square_plus_backward takes g and x as float32, of the same shape and on the same device.");
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
  const KernelsOf kernels(x.get_device());
  const CUstream stream = current_stream(x.get_device());
  const CUdeviceptr all = address(g) | address(x) | address(dx);  // PyTorch aligns the memory for `sums` to 512 bytes
  const int down = static_cast<int>(kernels->sums(rows, columns, all));
  const Tensor sums = at::empty({down * columns}, x.options());
  kernels->backward(stream, address(g), address(x), address(dx), address(sums), rows, columns, all);
  if (down == 1) return {dx, sums};
  const Tensor db = at::empty({columns}, x.options());
  kernels->add_up(stream, address(sums), address(db), down, columns);
  return {dx, db};
}

// The gradient formula in C++. It calls the backward op through the dispatcher, so that fake tensors, the profiler and
// torch.compile see it; calling backward() directly would hand a fake tensor's null pointer to a kernel.
struct SquarePlus : torch::autograd::Function<SquarePlus> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x, const Tensor& b) {
    static const auto op = c10::Dispatcher::singleton()
                               .findSchemaOrThrow("speed::square_plus_cpp", "")
                               .typed<Tensor(const Tensor&, const Tensor&)>();
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({x});
    return op.call(x, b);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    static const auto op = c10::Dispatcher::singleton()
                               .findSchemaOrThrow("speed::square_plus_backward", "")
                               .typed<Gradients(const Tensor&, const Tensor&)>();
    // The backward op's own gradient formula is in Python. Unless a second derivative is wanted, the call skips
    // autograd.
    std::optional<at::AutoDispatchBelowADInplaceOrView> below;
    if (!at::GradMode::is_enabled()) below.emplace();
    auto [dx, db] = op.call(gradients[0], context->get_saved_variables()[0]);
    return {dx, db};
  }
};

Tensor square_plus_cpp(const Tensor& x, const Tensor& b) { return SquarePlus::apply(x, b); }

// Both kernels of a layer, launched from a loop in C++ into memory that the caller has allocated.
void launches(const Tensor& x, const Tensor& b, const Tensor& g, const Tensor& y, const Tensor& dx, const Tensor& db,
              int64_t times) {
  check(x, b);
  const int columns = length(b.numel()), rows = length(x.numel() / columns), device = x.get_device();
  const KernelsOf kernels(device);
  const CUstream stream = current_stream(device);
  const CUdeviceptr all = address(g) | address(x) | address(dx);
  TORCH_CHECK(kernels->sums(rows, columns, all) == 1, "launches is for small tensors, whose backward is one kernel.");
  for (int64_t time = 0; time < times; ++time) {
    kernels->forward(stream, address(x), address(b), address(y), rows, columns);
    kernels->backward(stream, address(g), address(x), address(dx), address(db), rows, columns, all);
  }
}

// ---- the product of two matrices ----

Tensor multiply(const Tensor& any_a, const Tensor& any_b) {
  TORCH_CHECK(any_a.scalar_type() == at::kFloat && any_b.scalar_type() == at::kFloat, "multiply takes float32, not ",
              any_a.scalar_type(), " and ", any_b.scalar_type(), ".");
  TORCH_CHECK(any_a.dim() == 2 && any_b.dim() == 2 && any_a.size(1) == any_b.size(0), "multiply cannot multiply ",
              any_a.sizes(), " by ", any_b.sizes(), ".");
  TORCH_CHECK(any_a.device() == any_b.device(), "multiply takes both matrices on one device.");
  const Tensor a = any_a.contiguous(), b = any_b.contiguous();
  const int m = length(a.size(0)), n = length(b.size(1)), k = length(a.size(1));
  const Tensor c = at::empty({m, n}, a.options());
  if (c.numel() == 0) return c;
  if (a.is_cuda()) {
    const int device = a.get_device();
    KernelsOf(device)->multiply(current_stream(device), address(a), address(b), address(c), m, n, k);
  } else {
    loops::multiply(a.const_data_ptr<float>(), b.const_data_ptr<float>(), c.mutable_data_ptr<float>(), m, n, k);
  }
  return c;
}

// ---- the kernels without PyTorch: host tensors, device 0 ----

// Device memory with a copy of a tensor, or filled with a pattern, so that an element that no kernel writes shows up.
struct DeviceArray : cu::Memory {
  explicit DeviceArray(std::size_t bytes) : cu::Memory(bytes) { CU_THROW(cuMemsetD8(address, 0xee, bytes)); }
  explicit DeviceArray(const Tensor& from) : cu::Memory(from.nbytes()) {
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
  const KernelsOf kernels(0);
  const int columns = length(b.numel()), rows = length(x.numel() / columns);
  const DeviceArray device_x(x.contiguous()), device_b(b.contiguous()), y(x.nbytes());
  kernels->forward(nullptr, device_x.address, device_b.address, y.address, rows, columns);
  return y.read(x.sizes());
}

Gradients backward_by_driver(const Tensor& g, const Tensor& x) {
  const KernelsOf kernels(0);
  const int columns = length(x.size(-1)), rows = length(x.numel() / columns);
  const DeviceArray device_g(g.contiguous()), device_x(x.contiguous()), dx(x.nbytes()), db(columns * sizeof(float));
  const CUdeviceptr all = device_g.address | device_x.address | dx.address;
  const int down = static_cast<int>(kernels->sums(rows, columns, all));
  const DeviceArray sums(down * columns * sizeof(float));
  kernels->backward(nullptr, device_g.address, device_x.address, dx.address, sums.address, rows, columns, all);
  if (down == 1) return {dx.read(x.sizes()), sums.read({columns})};
  kernels->add_up(nullptr, sums.address, db.address, down, columns);
  return {dx.read(x.sizes()), db.read({columns})};
}

Tensor multiply_by_driver(const Tensor& a, const Tensor& b) {
  const KernelsOf kernels(0);
  const int m = length(a.size(0)), n = length(b.size(1)), k = length(a.size(1));
  const DeviceArray device_a(a.contiguous()), device_b(b.contiguous()), c(sizeof(float) * m * n);
  kernels->multiply(nullptr, device_a.address, device_b.address, c.address, m, n, k);
  return c.read({m, n});
}

}  // namespace

TORCH_LIBRARY(speed, library) {
  library.def("use_kernels(str path) -> ()", use_kernels);
  library.def("square_plus(Tensor x, Tensor b) -> Tensor");
  library.def("square_plus_backward(Tensor g, Tensor x) -> (Tensor, Tensor)");
  library.def("square_plus_cpp(Tensor x, Tensor b) -> Tensor");
  library.def("multiply(Tensor a, Tensor b) -> Tensor");
  library.def("launches(Tensor x, Tensor b, Tensor g, Tensor(y!) y, Tensor(dx!) dx, Tensor(db!) db, int times) -> ()");
  library.def("square_plus_by_driver(Tensor x, Tensor b) -> Tensor");
  library.def("square_plus_backward_by_driver(Tensor g, Tensor x) -> (Tensor, Tensor)");
  library.def("multiply_by_driver(Tensor a, Tensor b) -> Tensor");
}

TORCH_LIBRARY_IMPL(speed, CPU, library) {
  library.impl("square_plus", forward);
  library.impl("square_plus_backward", backward);
  library.impl("square_plus_cpp", forward);
  library.impl("multiply", multiply);
  library.impl("square_plus_by_driver", forward_by_driver);
  library.impl("square_plus_backward_by_driver", backward_by_driver);
  library.impl("multiply_by_driver", multiply_by_driver);
}

TORCH_LIBRARY_IMPL(speed, CUDA, library) {
  library.impl("square_plus", forward);
  library.impl("square_plus_backward", backward);
  library.impl("square_plus_cpp", forward);
  library.impl("multiply", multiply);
  library.impl("launches", launches);
}

// An op without a gradient must say so: with this fallback, backward() fails and names the op.
TORCH_LIBRARY_IMPL(speed, Autograd, library) {
  library.impl("square_plus_cpp", square_plus_cpp);
  for (const char* op : {"launches", "square_plus_by_driver", "square_plus_backward_by_driver", "multiply_by_driver"}) {
    library.impl(op, torch::autograd::autogradNotImplementedFallback());
  }
}
