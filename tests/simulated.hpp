// The one question that tells the devices apart.
#pragma once
#include <cuda.h>

#include <cstring>

// After cuInit only.
inline bool is_simulated(CUdevice device) {
  char name[64] = {};
  return cuDeviceGetName(name, sizeof name, device) == CUDA_SUCCESS && std::strncmp(name, "Simulated", 9) == 0;
}
