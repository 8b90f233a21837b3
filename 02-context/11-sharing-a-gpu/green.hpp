// Two green contexts that divide the multiprocessors of a device.
#pragma once
#include "common/cu.hpp"

static_assert(CUDA_VERSION >= 12050,
              "This lesson needs a CUDA Toolkit of version 12.5 or newer, which has green contexts.");

// A green context with a stream. Nothing releases them, because a process of this lesson ends with a fault.
struct Green {
  CUgreenCtx handle = nullptr;
  CUstream stream = nullptr;
  unsigned multiprocessors;

  Green(CUdevice device, CUdevResource resource) : multiprocessors(resource.sm.smCount) {
    CUdevResourceDesc description;
    CU_THROW(cuDevResourceGenerateDesc(&description, &resource, 1));
    CU_THROW(cuGreenCtxCreate(&handle, description, device, CU_GREEN_CTX_DEFAULT_STREAM));
    CU_THROW(cuGreenCtxStreamCreate(&stream, handle, CU_STREAM_NON_BLOCKING, 0));
  }
};

struct Split {
  CUdevResource group, rest;
};

// A group of at least the wanted number of multiprocessors, and the others.
inline Split split(CUdevice device, unsigned wanted) {
  CUdevResource all, group, rest;
  unsigned groups = 1;
  CU_THROW(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
  CU_THROW(cuDevSmResourceSplitByCount(&group, &groups, &all, &rest, 0, wanted));
  return {group, rest};
}
