// The whole arc for two inputs.
#include "common/cu.hpp"

#include <string>
#include <vector>

// Adds two vectors of equal length on device 0 and returns the sums. The file `image` contains the kernel
//   add(int* a, const int* b, int count)     a[i] += b[i] for every i < count, one thread per element
// The caller has not called the driver before. Check each call with CU_THROW(call), which throws an exception instead
// of ending the program. Free the memory, unload the module, and release the primary context before you return.
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
  CU_THROW(cuDevicePrimaryCtxRelease(device));
  return a;
}
