// Launches. This file is compiled twice, the second time for the per-thread default stream (runtime.hpp).
#include "common/runtime/modules.hpp"

namespace runtime {
namespace {

cudaError_t launch(CUfunction function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                   cudaStream_t stream) {
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

// A stub asks for its kernel once, and then launches with what it got: here, the entry in our table.
cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* stub) {
  Kernel* kernel = announced(stub);
  if (kernel == nullptr) return kept(cudaErrorInvalidDeviceFunction);
  *handle = reinterpret_cast<cudaKernel_t>(kernel);
  return cudaSuccess;
}
#endif

#ifdef RUNTIME_PER_THREAD
#define __cudaLaunchKernel __cudaLaunchKernel_ptsz
#endif
cudaError_t __cudaLaunchKernel(cudaKernel_t handle, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                               cudaStream_t stream) {
  RUNTIME_REQUIRE(handle != nullptr, cudaErrorInvalidDeviceFunction);
  RUNTIME_TRY(ready());
  CUfunction function = nullptr;
  RUNTIME_TRY(launchable(*reinterpret_cast<Kernel*>(handle), &function));
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
  return kept(driver().cuLaunchKernelEx(&wanted, reinterpret_cast<CUfunction>(kernel), arguments, nullptr));
}

cudaError_t cudaLaunchCooperativeKernel(const void* stub, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                        cudaStream_t stream) {
  CUkernel kernel = nullptr;
  RUNTIME_TRY(find_kernel(stub, &kernel));
  return kept(driver().cuLaunchCooperativeKernel(reinterpret_cast<CUfunction>(kernel), grid.x, grid.y, grid.z, block.x,
                                                 block.y, block.z, static_cast<unsigned>(shared), stream_of(stream),
                                                 arguments));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  RUNTIME_CALL(cuLaunchHostFunc(stream_of(stream), function, data));
}

}  // extern "C"
