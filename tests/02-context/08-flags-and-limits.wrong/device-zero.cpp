// Rejected with: "the device of the current context counts"
// The context may belong to another device, with another number of multiprocessors.
#include "common/cu.hpp"

#include <algorithm>
#include <vector>

namespace {

std::size_t attribute(CUdevice device, CUdevice_attribute which) {
  int value;
  CU_THROW(cuDeviceGetAttribute(&value, which, device));
  return static_cast<std::size_t>(value);
}

}  // namespace

bool admits(const std::vector<CUfunction>& kernels, std::size_t bytes) {
  const CUdevice device = 0;
  const std::size_t threads = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) *
                              attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  std::size_t limit, free, total;
  CU_THROW(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
  CU_THROW(cuMemGetInfo(&free, &total));
  std::size_t deepest = limit;
  for (const CUfunction kernel : kernels) {
    int stack;
    CU_THROW(cuFuncGetAttribute(&stack, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, kernel));
    deepest = std::max(deepest, static_cast<std::size_t>(stack));
  }
  const std::size_t more = (deepest - limit) * threads;
  return more <= free && free - more >= bytes;
}
