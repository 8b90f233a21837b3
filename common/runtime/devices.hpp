// The device and the context of the calling thread, for the files that need more than ready().
#pragma once
#include "common/runtime/formats.hpp"
#include "common/runtime/runtime.hpp"

#include <functional>

namespace runtime {

// The device that the calling thread uses: that of its current context, or its choice.
int current_device();

// Calls with a device's primary context current, and restores the caller's context.
cudaError_t in_primary(int device, const std::function<CUresult()>& call);

// nullptr if it cannot be created.
CUcontext primary_context(int device);

// Fills in the structure of the newest version (properties.cpp).
cudaError_t device_properties(cudaDeviceProp* properties, int device);

// After cudaDeviceReset, no function that was found in a context may be used again (modules.cpp).
void forget_contexts();

}  // namespace runtime
