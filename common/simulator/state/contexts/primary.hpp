// The primary context of each device (CUDA Driver API manual, "Primary Context Management"). It is counted, not
// destroyed by handle; its handle is the same whenever it lives; only the program makes it current.
#pragma once
#include "common/simulator/state/contexts/context.hpp"
#include "common/simulator/state/contexts/context_flags.hpp"
#include "common/simulator/state/devices/driver.hpp"

namespace cudasim {

// With the primary context's lock held.
void end_primary(Device::Primary& primary);
CUcontext retain_primary(Device& device);
void release_primary(Device& device);

}  // namespace cudasim
