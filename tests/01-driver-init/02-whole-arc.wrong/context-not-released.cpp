// Rejected with: "everything is released"
// The primary context is retained but never released, so it exists until the process ends.
#include "common/cu.hpp"

#include <string>
#include <vector>

std::vector<int> add_on_gpu(const std::string& image, std::vector<int> a, const std::vector<int>& b) {
  if (a.empty()) return a;  // neither an allocation of 0 bytes nor a grid of 0 blocks is allowed
  int count = static_cast<int>(a.size());
  std::size_t bytes = count * sizeof(int);

  CU_THROW(cuInit(0));
  CUdevice device;
  CU_THROW(cuDeviceGet(&device, 0));
  CUcontext context;
  CU_THROW(cuDevicePrimaryCtxRetain(&context, device));
  CU_THROW(cuCtxSetCurrent(context));

  CUmodule module;
  CU_THROW(cuModuleLoad(&module, image.c_str()));
  CUfunction add;
  CU_THROW(cuModuleGetFunction(&add, module, "add"));

  CUdeviceptr device_a, device_b;
  CU_THROW(cuMemAlloc(&device_a, bytes));
  CU_THROW(cuMemAlloc(&device_b, bytes));
  CU_THROW(cuMemcpyHtoD(device_a, a.data(), bytes));
  CU_THROW(cuMemcpyHtoD(device_b, b.data(), bytes));

  void* arguments[] = {&device_a, &device_b, &count};
  CU_THROW(cuLaunchKernel(add, (count + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  CU_THROW(cuMemcpyDtoH(a.data(), device_a, bytes));

  CU_THROW(cuMemFree(device_a));
  CU_THROW(cuMemFree(device_b));
  CU_THROW(cuModuleUnload(module));
  return a;
}
