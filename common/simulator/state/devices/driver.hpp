// The process's view of the driver: initialised or not, and the devices it sees.
#pragma once
#include "common/simulator/state/devices/device.hpp"

#include <span>
#include <string>

namespace cudasim {

// cuInit. Reads CUDASIM_DEVICES, CUDASIM_MEMORY, CUDA_VISIBLE_DEVICES, and reports unknown CUDASIM_ variables.
// CUDA_ERROR_NO_DEVICE if no device is visible.
CUresult initialize();

// A variable that begins with CUDA_, as it was when cuInit was called: later changes have no effect. Empty if it was
// not set, or before cuInit.
const std::string& at_init(const char* variable);

// Throws CUDA_ERROR_NOT_INITIALIZED before cuInit, and in a child made by fork.
void require_initialized();

// All devices that the process sees. Empty before cuInit.
std::span<Device* const> devices();

// Throws `otherwise` for an unknown ordinal.
Device& device_at(CUdevice ordinal, CUresult otherwise = CUDA_ERROR_INVALID_DEVICE);

// Reports once per name on stderr that the simulator does not have this function. Returns CUDA_ERROR_NOT_SUPPORTED.
// `why` is appended if given.
CUresult refuse(const char* function, const char* why = nullptr);

}  // namespace cudasim
