// Launches of the first API (CUDA Driver API manual, "Execution Control [DEPRECATED]"): a function is given its block
// shape and its parameters call by call, then launched. Old programs and bindings still use it.
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/launches/launch.hpp"
#include "common/simulator/state/modules/library.hpp"
#include "common/simulator/state/streams/capture.hpp"

#include <algorithm>
#include <cstring>

namespace cudasim {

namespace {

constexpr std::size_t kMostParameters = 4096;
constexpr unsigned kMostShared = 48 << 10;  // bytes, without asking for more (cuFuncSetAttribute)

std::shared_ptr<Function> function_to_launch(CUfunction handle) {
  return get_function_or_kernel(handle, current_context());
}

void put(Function& function, int offset, const void* value, std::size_t size) {
  require(offset >= 0);
  const std::scoped_lock lock(function.mutex);
  const std::size_t end = static_cast<std::size_t>(offset) + size;
  require(end <= kMostParameters);  // what is beyond the kernel's own is not missed before the launch
  function.parameters.resize(std::max(function.parameters.size(), end));
  if (size != 0) std::memcpy(function.parameters.data() + offset, value, size);
}

CUresult launch_grid(CUfunction handle, int width, int height, CUstream stream) {
  const auto function = function_to_launch(handle);
  require(width > 0 && height > 0);
  LaunchShape shape;
  shape.grid = {static_cast<u32>(width), static_cast<u32>(height), 1};
  std::vector<std::byte> parameters;
  {
    const std::scoped_lock lock(function->mutex);
    shape.block = function->block_shape;
    shape.dynamic_shared = function->shared_size;
    parameters = function->parameters;
    require(function->parameter_size <= function->kernel->parameter_bytes, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  }
  parameters.resize(function->kernel->parameter_bytes);
  launch(function, resolve_shape(*function, shape), std::move(parameters), *get_stream(stream));
  return CUDA_SUCCESS;
}

}  // namespace

CUresult driver::call_cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z) {
  const auto function = function_to_launch(hfunc);
  require(x > 0 && y > 0 && z > 0);
  LaunchShape shape;
  shape.block = {static_cast<u32>(x), static_cast<u32>(y), static_cast<u32>(z)};
  resolve_shape(*function, shape);  // throws for a block that the kernel cannot have
  const std::scoped_lock lock(function->mutex);
  function->block_shape = shape.block;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes) {
  const auto function = function_to_launch(hfunc);
  const std::scoped_lock lock(function->mutex);
  require(bytes <= kMostShared);
  function->shared_size = bytes;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuParamSetSize(CUfunction hfunc, unsigned int numbytes) {
  const auto function = function_to_launch(hfunc);  // too many are found at the launch; how many it takes is known
  const std::scoped_lock lock(function->mutex);
  function->parameter_size = numbytes;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuParamSeti(CUfunction hfunc, int offset, unsigned int value) {
  put(*function_to_launch(hfunc), offset, &value, sizeof value);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuParamSetf(CUfunction hfunc, int offset, float value) {
  put(*function_to_launch(hfunc), offset, &value, sizeof value);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuParamSetv(CUfunction hfunc, int offset, void* ptr, unsigned int numbytes) {
  const auto function = function_to_launch(hfunc);
  require(ptr != nullptr || numbytes == 0);
  put(*function, offset, ptr, numbytes);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuLaunch(CUfunction f) { return launch_grid(f, 1, 1, nullptr); }

CUresult driver::call_cuLaunchGrid(CUfunction f, int grid_width, int grid_height) {
  return launch_grid(f, grid_width, grid_height, nullptr);
}

CUresult driver::call_cuLaunchGridAsync(CUfunction f, int grid_width, int grid_height, CUstream hStream) {
  require_no_unsafe_capture();
  return launch_grid(f, grid_width, grid_height, hStream);
}

}  // namespace cudasim
