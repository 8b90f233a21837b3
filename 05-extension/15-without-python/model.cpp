#include "05-extension/15-without-python/model.hpp"
#include "common/torch.hpp"

#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#ifdef WITH_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>
#endif

#include <chrono>
#include <fstream>
#include <stdexcept>

namespace {

class Package : public Model {
 public:
  Package(const std::string& file, const std::string& device)
      : loader_(file, "model", /*run_single_threaded=*/true), device_(device) {}

  Matrix run(const Matrix& x) override {
    const c10::InferenceMode no_gradients;  // for this thread, like torch.no_grad() in Python
    return to_matrix(loader_.run({to_tensor(x)}).at(0));
  }

  Matrix replay(const Matrix& captured, const Matrix& x) override;

  double microseconds(const Matrix& x, int runs) override {
    const c10::InferenceMode no_gradients;
    const at::Tensor input = to_tensor(x);
    for (int i = 0; i < 10; ++i) loader_.run({input});  // the first runs also allocate memory
    wait();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < runs; ++i) loader_.run({input});
    wait();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / runs;
  }

 private:
  at::Tensor to_tensor(const Matrix& x) const {
    float* const values = const_cast<float*>(x.values.data());  // from_blob has no variant for constant memory
    return at::from_blob(values, {x.rows, x.columns}).to(device_, at::kFloat, false, /*copy=*/true);
  }

  static Matrix to_matrix(const at::Tensor& y) {
    if (y.dim() != 2) throw std::runtime_error("the model's result is not a matrix");
    const at::Tensor host = y.cpu().contiguous();
    const float* const values = host.const_data_ptr<float>();
    return {host.size(0), host.size(1), {values, values + host.numel()}};
  }

  void wait() const {
#ifdef WITH_CUDA
    if (device_.is_cuda()) c10::cuda::getCurrentCUDAStream().synchronize();
#endif
  }

  torch::inductor::AOTIModelPackageLoader loader_;
  at::Device device_;
};

Matrix Package::replay([[maybe_unused]] const Matrix& captured, [[maybe_unused]] const Matrix& x) {
#ifdef WITH_CUDA
  if (device_.is_cuda()) {
    const c10::InferenceMode no_gradients;
    const c10::cuda::CUDAStreamGuard stream(c10::cuda::getStreamFromPool());  // the default stream cannot be captured
    const at::Tensor input = to_tensor(captured);
    loader_.run({input});  // loads everything that is loaded at first use, before the capture
    wait();
    at::cuda::CUDAGraph graph;
    graph.capture_begin();
    const at::Tensor y = loader_.run({input}).at(0);
    graph.capture_end();
    input.copy_(to_tensor(x));
    graph.replay();
    return to_matrix(y);
  }
#endif
  throw std::runtime_error("a CUDA graph needs a model on a GPU");
}

}  // namespace

std::unique_ptr<Model> load(const std::string& package, const std::string& device) {
  if (!std::ifstream(package)) throw std::runtime_error("cannot read " + package);
  return std::make_unique<Package>(package, device);
}

std::vector<std::string> dispatch_keys(const std::string& op) {
  const c10::OperatorHandle found = c10::Dispatcher::singleton().findSchemaOrThrow(op.c_str(), "");
  std::vector<std::string> keys;
  for (const char* key :
       {"CPU", "CUDA", "CompositeExplicitAutograd", "Meta", "Autograd", "AutocastCPU", "FuncTorchBatched"})
    if (found.hasKernelForDispatchKey(c10::parseDispatchKey(key))) keys.emplace_back(key);
  return keys;
}

std::string reason(const std::exception& error) {
  const std::string message = error.what();
  return message.substr(0, message.find('\n'));
}
