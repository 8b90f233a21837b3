// Checks the learner's add_on_gpu() (exercise of 01-driver-init/02-whole-arc).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <map>
#include <string>
#include <vector>

std::vector<int> add_on_gpu(const std::string& image, std::vector<int> a, const std::vector<int>& b);

namespace {

const std::string kImage = cu::image("check.ptx");  // from 02-whole-arc.cu

std::map<std::string, int> calls;  // how often each counted call has succeeded

CUresult counted(const char* call, CUresult result) {
  calls[call] += result == CUDA_SUCCESS;
  return result;
}

// Describes the first wrong sum, or returns "".
std::string first_difference(const std::vector<int>& got, const std::vector<int>& expected) {
  if (got.size() != expected.size()) {
    return std::to_string(got.size()) + " sums were returned, " + std::to_string(expected.size()) + " expected";
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i]) continue;
    return "sum " + std::to_string(i) + " is " + std::to_string(got[i]) + ", expected " + std::to_string(expected[i]);
  }
  return "";
}

}  // namespace

// The solution's calls come through these functions.
#define COUNTED(call, parameters, arguments)                                           \
  CUresult CUDAAPI call parameters {                                                   \
    return Refusal::meets(#call) ? kRefused : counted(#call, DRIVERS(call) arguments); \
  }

COUNTED(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device), (context, device))
COUNTED(cuModuleLoad, (CUmodule * module, const char* file), (module, file))
COUNTED(cuModuleLoadData, (CUmodule * module, const void* image), (module, image))
COUNTED(cuModuleUnload, (CUmodule module), (module))
COUNTED(cuMemFree, (CUdeviceptr address), (address))
COUNTED(cuMemAlloc, (CUdeviceptr * address, std::size_t bytes), (address, bytes))
COUNTED(cuLaunchKernel,
        (CUfunction kernel, unsigned int blocks_x, unsigned int blocks_y, unsigned int blocks_z, unsigned int threads_x,
         unsigned int threads_y, unsigned int threads_z, unsigned int shared_bytes, CUstream stream, void** arguments,
         void** extra),
        (kernel, blocks_x, blocks_y, blocks_z, threads_x, threads_y, threads_z, shared_bytes, stream, arguments, extra))

// cuda.h gives the exported name cuDevicePrimaryCtxRelease_v2 to this call.
COUNTED(cuDevicePrimaryCtxRelease, (CUdevice device), (device))

MAY_BE_REFUSED(cuDeviceGet, (CUdevice * device, int ordinal), (device, ordinal))
MAY_BE_REFUSED(cuCtxSetCurrent, (CUcontext context), (context))
MAY_BE_REFUSED(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char* name),
               (function, module, name))
MAY_BE_REFUSED(cuMemcpyHtoD, (CUdeviceptr to, const void* from, std::size_t bytes), (to, from, bytes))
MAY_BE_REFUSED(cuMemcpyDtoH, (void* to, CUdeviceptr from, std::size_t bytes), (to, from, bytes))

TEST_CASE("every sum is right, whatever the length") {
  const int length = GENERATE(1, 255, 256, 257, 1000, 100000);
  CAPTURE(length);
  std::vector<int> a(length), b(length), sums(length);
  for (int i = 0; i < length; ++i) sums[i] = (a[i] = 3 * i + 1) + (b[i] = 1000 - i);
  CHECK(first_difference(add_on_gpu(kImage, a, b), sums) == "");
}

TEST_CASE("the kernel in the image does the work") {
  calls.clear();
  CHECK(first_difference(add_on_gpu(kImage, {1, 2, 3}, {10, 20, 30}), {11, 22, 33}) == "");
  CHECK(calls["cuLaunchKernel"] == 1);
}

TEST_CASE("empty vectors have an empty sum") { CHECK(add_on_gpu(kImage, {}, {}).empty()); }

TEST_CASE("everything is released") {
  calls.clear();
  add_on_gpu(kImage, {1, 2, 3}, {10, 20, 30});
  CHECK(calls["cuMemFree"] == calls["cuMemAlloc"]);
  CHECK(calls["cuModuleUnload"] == calls["cuModuleLoad"] + calls["cuModuleLoadData"]);
  CHECK(calls["cuDevicePrimaryCtxRelease"] == calls["cuDevicePrimaryCtxRetain"]);
}

TEST_CASE("a missing image is reported") { CHECK_THROWS_AS(add_on_gpu(kImage + ".missing", {1}, {2}), cu::Error); }

TEST_CASE("every call is checked") {
  CHECK(
      ignored_failure({"cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuModuleLoad", "cuModuleLoadData",
                       "cuModuleGetFunction", "cuMemAlloc", "cuMemcpyHtoD", "cuLaunchKernel", "cuMemcpyDtoH"},
                      [] { add_on_gpu(kImage, {1, 2, 3}, {10, 20, 30}); }) == "");
}
