// The primary context, for others that keep one. primary.cpp
#pragma once
#include "common/simulator/state/device.hpp"

namespace cudasim {

// Counts one user more, or less; the first makes it, the last ends it. Releasing what nobody retains throws
// CUDA_ERROR_INVALID_CONTEXT.
CUcontext retain_primary(Device& device);
void release_primary(Device& device);

}  // namespace cudasim
