// The primary context of each device (CUDA Driver API manual, "Primary Context Management"). It is counted, not
// destroyed by handle; its handle is the same whenever it lives; it is made current by nobody but the program.
#include "common/simulator/api/primary.hpp"

#include "common/simulator/api/call.hpp"
#include "common/simulator/api/context_flags.hpp"
#include "common/simulator/api/coredump.hpp"

namespace cudasim {

namespace {

constexpr u32 kApiVersion = 3020;

Device& permitted_device(CUdevice ordinal) {
  require_calls_permitted();
  return device_at(ordinal);
}

// With the primary context's lock held.
void end(Device::Primary& primary) {
  primary.flags = 0;
  if (const auto context = find_context(primary.handle)) destroy_context(context);
}

CUresult release(CUdevice dev) {
  release_primary(permitted_device(dev));
  return CUDA_SUCCESS;
}

// What was retained stays so: the next one that retains it finds a new context behind the same handle.

CUresult reset(CUdevice dev) {
  Device& device = permitted_device(dev);
  const std::scoped_lock lock(device.primary.mutex);
  end(device.primary);
  return CUDA_SUCCESS;
}

CUresult set_flags(CUdevice dev, unsigned flags) {
  Device& device = permitted_device(dev);
  require_context_flags(flags);
  const std::scoped_lock lock(device.primary.mutex);
  device.primary.flags = flags;
  if (const auto context = find_context(device.primary.handle)) {
    const std::scoped_lock settings(context->settings);
    context->flags = flags;
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUcontext retain_primary(Device& device) {
  Device::Primary& primary = device.primary;
  const std::scoped_lock lock(primary.mutex);
  if (!find_context(primary.handle)) {
    require_healthy_device(device);
    const auto context = create_context(device, primary.flags, true, kApiVersion, primary.handle);
    begin_coredump_settings(*context);
    primary.handle = context->handle;
  }
  ++primary.retained;
  return primary.handle;
}

void release_primary(Device& device) {
  Device::Primary& primary = device.primary;
  const std::scoped_lock lock(primary.mutex);
  require(primary.retained != 0, CUDA_ERROR_INVALID_CONTEXT);
  if (--primary.retained == 0) end(primary);
}

CUresult driver::call_cuDevicePrimaryCtxRetain(CUcontext* pctx, CUdevice dev) {
  Device& device = permitted_device(dev);
  require(pctx != nullptr);
  *pctx = retain_primary(device);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuDevicePrimaryCtxRelease(CUdevice dev) { return release(dev); }

CUresult driver::call_cuDevicePrimaryCtxRelease_v2(CUdevice dev) { return release(dev); }

CUresult driver::call_cuDevicePrimaryCtxReset(CUdevice dev) { return reset(dev); }

CUresult driver::call_cuDevicePrimaryCtxReset_v2(CUdevice dev) { return reset(dev); }

CUresult driver::call_cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags) { return set_flags(dev, flags); }

CUresult driver::call_cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags) { return set_flags(dev, flags); }

CUresult driver::call_cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int* flags, int* active) {
  Device& device = permitted_device(dev);
  require(flags != nullptr && active != nullptr);
  const std::scoped_lock lock(device.primary.mutex);
  *flags = device.primary.flags;
  *active = find_context(device.primary.handle) ? 1 : 0;
  return CUDA_SUCCESS;
}

}  // namespace cudasim
