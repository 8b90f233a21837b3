// The kernels on host memory, by the driver API: copied to device 0 and back. So they run wherever there is a driver,
// PyTorch's GPU or not.
#include "common/cu.hpp"

#include "05-extension/04-canonical-op/op.h"

#include <map>
#include <mutex>
#include <string>

extern "C" void square_count_launch();

namespace {

const char* const kKernels[] = {"forward_", "backward_", "mistaken_"};
const char* const kTypes[] = {"half", "bfloat16", "float", "double"};
const std::size_t kSizes[] = {2, 2, 4, 8};

std::mutex one_at_a_time;
std::string image;

// Device 0's primary context, PyTorch's own. Kept until the process ends, and the modules in it with it.
CUcontext primary() {
  static CUcontext context = nullptr;
  if (context == nullptr) {
    CU_THROW(cuInit(0));
    CU_THROW(cuDevicePrimaryCtxRetain(&context, 0));
  }
  return context;
}

CUfunction kernel_of(const square_launch& launch) {
  static std::map<std::string, CUmodule> loaded;
  auto found = loaded.find(image);
  if (found == loaded.end()) {
    CUmodule module;
    CU_THROW(cuModuleLoad(&module, image.c_str()));
    found = loaded.emplace(image, module).first;
  }
  CUfunction kernel;
  CU_THROW(cuModuleGetFunction(&kernel, found->second,
                               (std::string(kKernels[launch.kernel]) + kTypes[launch.type]).c_str()));
  return kernel;
}

void run(const square_launch& launch) {
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  const cu::Current current(primary());
  const std::size_t bytes = launch.count * kSizes[launch.type];
  cu::Memory first(bytes), second(bytes), result(bytes);
  CU_THROW(cuMemcpyHtoD(first.address, launch.first, bytes));
  CU_THROW(cuMemcpyHtoD(second.address, launch.second, bytes));
  long long count = launch.count;
  void* arguments[] = {&first.address, &second.address, &result.address, &count};
  CU_THROW(
      cuLaunchKernel(kernel_of(launch), launch.blocks, 1, 1, launch.threads, 1, 1, 0, nullptr, arguments, nullptr));
  square_count_launch();
  CU_THROW(cuMemcpyDtoH(launch.result, result.address, bytes));
}

}  // namespace

int square_on_host(const square_launch* launch) {
  try {
    run(*launch);
    return CUDA_SUCCESS;
  } catch (const cu::Error& error) {
    return error.code();
  }
}

void square_use_image(const char* file) { image = file; }

const char* square_host_message(int code) { return cu::meaning(static_cast<CUresult>(code)); }
