// Predict how much memory kernels will cost before they are launched.
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

// Returns whether at least `bytes` of device memory will be free after each of these kernels has been launched in the
// current context, which reserves a stack for every thread that could run (see the lesson). It launches nothing and
// changes no limit. Throws cu::Error if a driver call fails (CU_THROW).
bool admits(const std::vector<CUfunction>& kernels, std::size_t bytes) {
  CUdevice device;
  CU_THROW(cuCtxGetDevice(&device));
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
