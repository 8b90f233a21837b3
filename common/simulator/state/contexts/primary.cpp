#include "common/simulator/state/contexts/primary.hpp"
namespace cudasim {

namespace {

constexpr u32 kApiVersion = 3020;

}  // namespace

void end_primary(Device::Primary& primary) {
  primary.flags = 0;
  if (const auto context = find_context(primary.handle)) destroy_context(context);
}

CUcontext retain_primary(Device& device) {
  Device::Primary& primary = device.primary;
  const std::scoped_lock lock(primary.mutex);
  if (!find_context(primary.handle)) {
    require_healthy_device(device);
    const u32 flags = primary.flags | context_flag::kMapHost;
    const auto context = create_context(device, flags, true, kApiVersion, primary.handle);
    note_coredump_flags(primary.flags);
    primary.handle = context->handle;
  }
  ++primary.retained;
  return primary.handle;
}

void release_primary(Device& device) {
  Device::Primary& primary = device.primary;
  const std::scoped_lock lock(primary.mutex);
  require(primary.retained != 0, CUDA_ERROR_INVALID_CONTEXT);
  if (--primary.retained == 0) end_primary(primary);
}

}  // namespace cudasim
