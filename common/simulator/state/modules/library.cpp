#include "common/simulator/state/modules/library.hpp"

namespace cudasim {

FunctionSettings LibraryKernel::settings_on(CUdevice device) const {
  const std::scoped_lock lock(mutex);
  const auto found = settings.find(device);
  return found != settings.end() ? found->second : default_settings(*kernel);
}

Library::Library(std::shared_ptr<const Program> loaded, Loader loader)
    : program(std::move(loaded)), loader_(std::move(loader)) {}

void Library::make_kernels() {
  for (const Kernel& kernel : program->kernels) {
    auto made = std::make_shared<LibraryKernel>();
    made->library = weak_from_this();
    made->kernel = &kernel;
    made->handle = library_kernels().add(made);
    kernels_.push_back(made->handle);
  }
}

CUkernel Library::kernel(const std::string& name) const {
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    if (program->kernels[i].name == name) return kernels_[i];
  }
  return nullptr;
}

std::shared_ptr<Module> Library::module_in(const std::shared_ptr<Context>& context) {
  const std::scoped_lock lock(mutex_);
  CUmodule& handle = modules_[context->id];
  if (auto module = modules().find(handle)) return module;
  auto module = loader_(context);
  module->of_library = true;
  handle = module->handle;
  return module;
}

std::vector<std::shared_ptr<Module>> Library::loaded() const {
  std::vector<std::shared_ptr<Module>> live;
  const std::scoped_lock lock(mutex_);
  for (const auto& [context, handle] : modules_) {
    if (auto module = modules().find(handle)) live.push_back(std::move(module));
  }
  return live;
}

void Library::close() {
  for (const auto& module : loaded()) {
    modules().remove(module->handle);
    module->close();
  }
  for (const CUkernel kernel : kernels_) library_kernels().remove(kernel);
}

Registry<Library, CUlibrary>& libraries() {
  static auto& all = *new Registry<Library, CUlibrary>;
  return all;
}

Registry<LibraryKernel, CUkernel>& library_kernels() {
  static auto& all = *new Registry<LibraryKernel, CUkernel>;
  return all;
}

std::shared_ptr<Function> function_of(const LibraryKernel& kernel, const std::shared_ptr<Context>& context) {
  const auto library = kernel.library.lock();
  if (!library) fail(CUDA_ERROR_INVALID_HANDLE);
  const CUfunction handle = library->module_in(context)->function(kernel.kernel->name);
  if (handle == nullptr) fail(CUDA_ERROR_NOT_FOUND);
  auto function = get_function(handle);
  function->library_kernel = kernel.handle;
  const FunctionSettings settings = kernel.settings_on(context->device.ordinal);
  const std::scoped_lock lock(function->mutex);
  function->settings = merged(settings, function->settings, function->own_settings);
  return function;
}

std::shared_ptr<Function> get_function_or_kernel(CUfunction handle, const std::shared_ptr<Context>& context) {
  if (auto function = functions().find(handle)) {
    require_healthy(*function->health);
    return function;
  }
  return function_of(*library_kernels().get(reinterpret_cast<CUkernel>(handle)), context);
}

}  // namespace cudasim
