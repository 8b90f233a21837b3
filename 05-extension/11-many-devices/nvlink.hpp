// What the links between GPUs carry, as NVML knows it; the driver API has no call for this. NVML API reference,
// nvmlDeviceGetFieldValues, "Field Identifiers".
#pragma once
#include "common/cu.hpp"

#include <dlfcn.h>

// In GB/s, from one device to all others, in one direction: the number of its links times the speed of each. 0 if NVML
// says nothing.
inline double nvlink_limit(CUdevice device) {
  struct Field {  // nvmlFieldValue_t
    unsigned id, scope;
    long long when, took;
    int type, result;
    union {
      double real;
      unsigned whole;
      unsigned long long large;
    } value;
  };
  constexpr unsigned kSpeedOfALink = 90, kLinks = 91;  // NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON, …_LINK_COUNT
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (library == nullptr) return 0;
  const auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
  const auto by_address =
      reinterpret_cast<int (*)(const char*, void**)>(dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2"));
  const auto values = reinterpret_cast<int (*)(void*, int, Field*)>(dlsym(library, "nvmlDeviceGetFieldValues"));
  char address[20];
  void* handle;
  Field fields[2] = {};
  fields[0].id = kSpeedOfALink;
  fields[1].id = kLinks;
  CU_THROW(cuDeviceGetPCIBusId(address, sizeof address, device));
  if (init == nullptr || by_address == nullptr || values == nullptr || init() != 0 ||
      by_address(address, &handle) != 0 || values(handle, 2, fields) != 0) {
    return 0;
  }
  if (fields[0].result != 0 || fields[1].result != 0) return 0;
  return static_cast<double>(fields[0].value.whole) * fields[1].value.whole / 1e3;
}
