// The bandwidth of the links between GPUs, from NVML, because the driver API has no call for it. Source: NVML API
// reference, nvmlDeviceGetFieldValues, "Field Identifiers".
#pragma once
#include "common/cu.hpp"

#include <dlfcn.h>

// The speeds of a device's links in one direction, added up, in GB/s. 0 if NVML does not report them.
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
  constexpr unsigned kLinks = 91, kSpeedOfALink = 164;  // NVML_FI_DEV_NVLINK_LINK_COUNT, …_GET_SPEED, in MB/s
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (library == nullptr) return 0;
  const auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
  const auto by_address =
      reinterpret_cast<int (*)(const char*, void**)>(dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2"));
  const auto values = reinterpret_cast<int (*)(void*, int, Field*)>(dlsym(library, "nvmlDeviceGetFieldValues"));
  char address[20];
  void* handle;
  CU_THROW(cuDeviceGetPCIBusId(address, sizeof address, device));
  if (init == nullptr || by_address == nullptr || values == nullptr || init() != 0 ||
      by_address(address, &handle) != 0) {
    return 0;
  }
  const auto ask = [&](unsigned id, unsigned scope) {
    Field field{};
    field.id = id;
    field.scope = scope;
    return values(handle, 1, &field) == 0 && field.result == 0 ? field.value.whole : 0;
  };
  double megabytes = 0;
  const unsigned links = ask(kLinks, 0);
  for (unsigned link = 0; link < links; ++link) megabytes += ask(kSpeedOfALink, link);
  return megabytes / 1e3;
}
