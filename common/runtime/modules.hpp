// The program's kernels and variables: which image they are in, and what the driver calls them.
#pragma once
#include "common/runtime/runtime.hpp"

#include <atomic>
#include <memory>
#include <string>

namespace runtime {

struct Image;

// A kernel's function in the primary context in which it was used last, and the one before, which another thread may
// still be reading.
struct Found {
  Place place;
  CUfunction function;
  std::unique_ptr<const Found> before;
};

// A kernel, as the host's code knows it: by the address of its stub.
struct Kernel {
  ~Kernel() { delete found.load(); }
  Image* image = nullptr;
  const void* stub = nullptr;
  std::string name;
  std::atomic<CUkernel> handle{nullptr};  // once the image is loaded
  std::atomic<const Found*> found{nullptr};
};

// The kernel that the program announced with this stub, or nullptr.
Kernel* announced(const void* stub);
// An entry without an image, for a stub that has not been announced yet.
Kernel* expected(const void* stub);
// Loads the kernel's image, if need be. A context must be current.
cudaError_t handle_of(Kernel& kernel, CUkernel* handle);

// What cuLaunchKernel takes for this kernel: its function, if that can be remembered, or else its handle.
cudaError_t launchable(Kernel& kernel, CUfunction* function);

// A kernel by its stub, or by a handle that the program got from cudaGetKernel or cudaLibraryGetKernel.
cudaError_t find_kernel(const void* stub, CUkernel* handle);
// The same for functions of the driver that want what belongs to the current context.
cudaError_t find_function(const void* stub, CUfunction* function);
// What the program knows a kernel by, for the functions that return one.
const void* stub_of(CUkernel kernel);
const void* stub_of(CUfunction function);
// From now on, the program may pass this handle as if it were a stub.
void remember(CUkernel kernel);

// Where a variable is in the current context.
struct Variable {
  CUdeviceptr place = 0;
  std::size_t bytes = 0;
};
cudaError_t find_variable(const void* symbol, Variable* variable);

// Both APIs declare a launch's attributes alike.
inline CUlaunchConfig driver_config(const cudaLaunchConfig_t& from) {
  CUlaunchConfig to{};
  to.gridDimX = from.gridDim.x, to.gridDimY = from.gridDim.y, to.gridDimZ = from.gridDim.z;
  to.blockDimX = from.blockDim.x, to.blockDimY = from.blockDim.y, to.blockDimZ = from.blockDim.z;
  to.sharedMemBytes = static_cast<unsigned>(from.dynamicSmemBytes);
  to.hStream = stream_of(from.stream);
  to.attrs = same<CUlaunchAttribute>(from.attrs);
  to.numAttrs = from.numAttrs;
  return to;
}

}  // namespace runtime
