// Checks the learner's admits() (exercise of 02-context/08-flags-and-limits). The functions below replace the driver's,
// so that the expected results are known on every machine.
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <vector>

bool admits(const std::vector<CUfunction>& kernels, std::size_t bytes);

namespace {

constexpr std::size_t kKiB = 1 << 10, kMiB = 1 << 20, kGiB = 1 << 30;

// A context on a device, as the replaced functions describe it. Devices 0 and 1 have 132 and 66 multiprocessors.
struct Machine {
  CUdevice device = 0;
  std::size_t limit = 1 * kKiB, free = 10 * kGiB;
  int changes = 0;  // limits that were set, kernels that were launched
  Machine() { now = this; }
  ~Machine() { now = nullptr; }
  inline static Machine* now = nullptr;
};

constexpr std::size_t kThreads = 132 * 2048;

// A kernel that needs a stack of this size. The replaced functions read the size from the handle.
CUfunction kernel(std::size_t stack) { return reinterpret_cast<CUfunction>(stack + 16); }

}  // namespace

CUresult CUDAAPI cuCtxGetDevice(CUdevice* device) {
  if (Refusal::meets("cuCtxGetDevice")) return kRefused;
  *device = Machine::now->device;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice device) {
  if (Refusal::meets("cuDeviceGetAttribute")) return kRefused;
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = device == 0 ? 132 : 66; return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: *value = 2048; return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = 1024; return CUDA_SUCCESS;
    default: return DRIVERS(cuDeviceGetAttribute)(value, which, device);
  }
}
CUresult CUDAAPI cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction function) {
  if (Refusal::meets("cuFuncGetAttribute")) return kRefused;
  *value =
      which == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES ? static_cast<int>(reinterpret_cast<std::size_t>(function) - 16) : 0;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  if (Refusal::meets("cuCtxGetLimit")) return kRefused;
  *value = limit == CU_LIMIT_STACK_SIZE ? Machine::now->limit : 8 * kMiB;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemGetInfo(std::size_t* free, std::size_t* total) {
  if (Refusal::meets("cuMemGetInfo")) return kRefused;
  *free = Machine::now->free;
  *total = 140 * kGiB;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuCtxSetLimit(CUlimit, std::size_t) {
  ++Machine::now->changes;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                CUstream, void**, void**) {
  ++Machine::now->changes;
  return CUDA_SUCCESS;
}

TEST_CASE_METHOD(Machine, "kernels without a stack leave all memory free") {
  CHECK(admits({kernel(0), kernel(0)}, free));
  CHECK_FALSE(admits({kernel(0)}, free + 1));
  CHECK(admits({}, free));
}

TEST_CASE_METHOD(Machine, "one deep kernel costs stacks for every thread that could run") {
  const std::size_t left = free - 7 * kKiB * kThreads;  // 1848 MiB less
  CHECK(admits({kernel(8 * kKiB)}, left));
  CHECK_FALSE(admits({kernel(8 * kKiB)}, left + 1));
}

TEST_CASE_METHOD(Machine, "of several kernels, the one with the largest stack counts") {
  const std::size_t left = free - 7 * kKiB * kThreads;
  CHECK(admits({kernel(4 * kKiB), kernel(8 * kKiB), kernel(0), kernel(6 * kKiB)}, left));
  CHECK_FALSE(admits({kernel(4 * kKiB), kernel(8 * kKiB), kernel(0)}, left + 1));
}

TEST_CASE_METHOD(Machine, "stacks up to the current limit cost nothing more") {
  limit = 16 * kKiB;
  CHECK(admits({kernel(8 * kKiB), kernel(16 * kKiB)}, free));
  CHECK(admits({kernel(20 * kKiB)}, free - 4 * kKiB * kThreads));
  CHECK_FALSE(admits({kernel(20 * kKiB)}, free - 4 * kKiB * kThreads + 1));
}

TEST_CASE_METHOD(Machine, "stacks that do not fit at all are refused") {
  CHECK_FALSE(admits({kernel(64 * kKiB)}, 0));
  CHECK_FALSE(admits({kernel(64 * kKiB)}, 1 * kMiB));
}

TEST_CASE_METHOD(Machine, "stacks of more than 4 GiB are counted") {
  CHECK(admits({kernel(33 * kKiB)}, free - 32 * kKiB * kThreads));
  CHECK_FALSE(admits({kernel(33 * kKiB)}, free - 32 * kKiB * kThreads + 1));
}

TEST_CASE_METHOD(Machine, "the device of the current context counts") {
  device = 1;
  CHECK(admits({kernel(8 * kKiB)}, free - 7 * kKiB * kThreads / 2));
}

TEST_CASE_METHOD(Machine, "nothing is launched, and no limit is set") {
  admits({kernel(8 * kKiB)}, 1);
  CHECK(changes == 0);
}

TEST_CASE_METHOD(Machine, "each call is checked: a driver error is thrown") {
  CHECK(
      ignored_failure({"cuCtxGetDevice", "cuDeviceGetAttribute", "cuFuncGetAttribute", "cuCtxGetLimit", "cuMemGetInfo"},
                      [] { admits({kernel(8 * kKiB), kernel(0)}, 1); }) == "");
}
