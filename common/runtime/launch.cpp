// Launches. This file is compiled twice, the second time for the per-thread default stream (runtime.hpp).
#include "common/runtime/modules.hpp"

namespace runtime {
namespace {

// The runtime of CUDA 12 looks at the shape of a launch itself, and has an error of its own for blocks and grids that
// no device can run. That of CUDA 13 leaves them to the driver.
#if RUNTIME_MAJOR == 12
cudaError_t check_shape(const dim3& grid, const dim3& block) {
  const auto within = [](const dim3& size, unsigned x, unsigned y, unsigned z) {
    return size.x - 1 < x && size.y - 1 < y && size.z - 1 < z;
  };
  constexpr unsigned kMostBlocks = 0x7fffffff, kMostThreads = 1024;
  const auto threads = static_cast<unsigned long long>(block.x) * block.y * block.z;
  const bool fits = within(grid, kMostBlocks, 65535, 65535) && within(block, 1024, 1024, 64) && threads <= kMostThreads;
  return fits ? cudaSuccess : cudaErrorInvalidConfiguration;
}
#else
cudaError_t check_shape(const dim3&, const dim3&) { return cudaSuccess; }
#endif

cudaError_t launch(CUfunction function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                   cudaStream_t stream) {
  const cudaError_t shape = check_shape(grid, block);
  if (shape != cudaSuccess) return shape;
  return code(driver().cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                      static_cast<unsigned>(shared), stream_of(stream), arguments, nullptr));
}

}  // namespace
}  // namespace runtime

using namespace runtime;

extern "C" {

#ifndef RUNTIME_PER_THREAD
namespace {

// kernel<<<grid, block, shared, stream>>>(arguments) is two calls: this one leaves the configuration, and the kernel's
// stub takes it. Configurations nest if computing an argument launches a kernel. Nothing here has a destructor, because
// exit handlers that run after those of the thread may still launch.
struct Configuration {
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
};
constexpr int kMostNested = 32;
thread_local Configuration configurations[kMostNested];
thread_local int nested = 0;

}  // namespace

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, CUstream_st* stream) {
  if (nested == kMostNested) return kept(cudaErrorLaunchOutOfResources);
  configurations[nested++] = {grid, block, shared, stream};
  return 0;  // the stub is called only after a 0
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  if (nested == 0) return kept(cudaErrorMissingConfiguration);
  const Configuration& top = configurations[--nested];
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  return cudaSuccess;
}

// A stub asks for its kernel once, and then launches with what it got: here, the entry in our table. A constructor may
// launch a kernel before it is announced; the entry is then without an image.
cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* stub) {
  Kernel* kernel = announced(stub);
  *handle = reinterpret_cast<cudaKernel_t>(kernel != nullptr ? kernel : expected(stub));
  return cudaSuccess;
}
#endif

#ifdef RUNTIME_PER_THREAD
#define __cudaLaunchKernel __cudaLaunchKernel_ptsz
#endif
cudaError_t __cudaLaunchKernel(cudaKernel_t handle, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                               cudaStream_t stream) {
  RUNTIME_REQUIRE(handle != nullptr, cudaErrorInvalidDeviceFunction);
  RUNTIME_TRY(ready());  // at the end of the process, the entry is gone
  Kernel& kernel = *reinterpret_cast<Kernel*>(handle);
  if (kernel.image == nullptr) return cudaLaunchKernel(kernel.stub, grid, block, arguments, shared, stream);
  CUfunction function = nullptr;
  RUNTIME_TRY(launchable(kernel, &function));
  return kept(launch(function, grid, block, arguments, shared, stream));
}

cudaError_t cudaLaunchKernel(const void* stub, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                             cudaStream_t stream) {
  CUkernel kernel = nullptr;
  RUNTIME_TRY(find_kernel(stub, &kernel));
  // The driver accepts a kernel's handle in a function's place, and takes its function in the current context.
  return kept(launch(reinterpret_cast<CUfunction>(kernel), grid, block, arguments, shared, stream));
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* stub, void** arguments) {
  RUNTIME_REQUIRE(config != nullptr, cudaErrorInvalidValue);
  CUkernel kernel = nullptr;
  RUNTIME_TRY(find_kernel(stub, &kernel));
  const CUlaunchConfig wanted = driver_config(*config);
  RUNTIME_TRY(check_shape(config->gridDim, config->blockDim));
  return kept(driver().cuLaunchKernelEx(&wanted, reinterpret_cast<CUfunction>(kernel), arguments, nullptr));
}

cudaError_t cudaLaunchCooperativeKernel(const void* stub, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                        cudaStream_t stream) {
  CUkernel kernel = nullptr;
  RUNTIME_TRY(find_kernel(stub, &kernel));
  RUNTIME_TRY(check_shape(grid, block));
  return kept(driver().cuLaunchCooperativeKernel(reinterpret_cast<CUfunction>(kernel), grid.x, grid.y, grid.z, block.x,
                                                 block.y, block.z, static_cast<unsigned>(shared), stream_of(stream),
                                                 arguments));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  RUNTIME_CALL(cuLaunchHostFunc(stream_of(stream), function, data));
}

}  // extern "C"
