// Distinguishes the simulator from a real device.
#pragma once
#include <cuda.h>

#include <cstring>

// Call it only after cuInit.
inline bool is_simulated(CUdevice device) {
  char name[64] = {};
  return cuDeviceGetName(name, sizeof name, device) == CUDA_SUCCESS && std::strncmp(name, "Simulated", 9) == 0;
}
