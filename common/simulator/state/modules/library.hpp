// Libraries: code without a context. A library's module is loaded into a context when something of it is needed there.
#pragma once
#include "common/simulator/state/modules/module.hpp"

#include <map>

namespace cudasim {

class Library;

// A kernel of a library, for every context.
struct LibraryKernel {
  std::weak_ptr<Library> library;
  const Kernel* kernel = nullptr;  // of the library's own program
  CUkernel handle = nullptr;
  mutable std::mutex mutex;
  std::map<CUdevice, FunctionSettings> settings;  // by device, once set

  FunctionSettings settings_on(CUdevice device) const;
};

class Library : public std::enable_shared_from_this<Library> {
 public:
  using Loader = std::function<std::shared_ptr<Module>(const std::shared_ptr<Context>&)>;
  // `program` tells what the library has; its variables lie nowhere. `loader` loads it into a context.
  Library(std::shared_ptr<const Program> program, Loader loader);

  const std::shared_ptr<const Program> program;
  CUlibrary handle = nullptr;
  // Why there is nothing in it: a driver accepts an image without any code, and fails only when code is requested.
  CUresult failed = CUDA_SUCCESS;
  std::string why;

  void make_kernels();  // after construction: they refer to their library
  const std::vector<CUkernel>& kernels() const { return kernels_; }
  CUkernel kernel(const std::string& name) const;  // null if it has none of that name
  // The module of this library in a context; loaded if it is not yet.
  std::shared_ptr<Module> module_in(const std::shared_ptr<Context>& context);
  // Every module that it has been loaded as and that still lives.
  std::vector<std::shared_ptr<Module>> loaded() const;
  // Unloads its modules and kernels.
  void close();

 private:
  const Loader loader_;
  std::vector<CUkernel> kernels_;
  mutable std::mutex mutex_;
  std::map<u64, CUmodule> modules_;  // by context id
};

Registry<Library, CUlibrary>& libraries();
Registry<LibraryKernel, CUkernel>& library_kernels();

// The function of a library's kernel in a context.
std::shared_ptr<Function> function_of(const LibraryKernel& kernel, const std::shared_ptr<Context>& context);

// What a handle means that may be a function or, cast to one, a library's kernel (cuLaunchKernel, cuOccupancy…): the
// kernel's function in `context`. Throws CUDA_ERROR_INVALID_HANDLE.
std::shared_ptr<Function> get_function_or_kernel(CUfunction handle, const std::shared_ptr<Context>& context);

}  // namespace cudasim
