// Primary contexts (CUDA Driver API manual, "Primary Context Management").
#include "common/simulator/state/contexts/primary.hpp"
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/contexts/context_flags.hpp"
#include "common/simulator/state/contexts/primary.hpp"

namespace cudasim {

namespace {

Device& permitted_device(CUdevice ordinal) {
  require_calls_permitted();
  return device_at(ordinal);
}

CUresult release(CUdevice dev) {
  release_primary(permitted_device(dev));
  return CUDA_SUCCESS;
}

CUresult reset(CUdevice dev) {
  Device& device = permitted_device(dev);
  const std::scoped_lock lock(device.primary.mutex);
  end_primary(device.primary);
  return CUDA_SUCCESS;
}

CUresult set_flags(CUdevice dev, unsigned flags) {
  Device& device = permitted_device(dev);
  require_context_flags(flags);
  require((flags & context_flag::kMapHost) == 0, CUDA_ERROR_INVALID_VALUE,
          [] { return "a primary context always maps host memory, and does not take the flag CU_CTX_MAP_HOST"; });
  const std::scoped_lock lock(device.primary.mutex);
  device.primary.flags = flags;
  if (const auto context = find_context(device.primary.handle)) {
    const std::scoped_lock settings(context->settings);
    context->flags = flags | context_flag::kMapHost;
  }
  return CUDA_SUCCESS;
}

}  // namespace

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
