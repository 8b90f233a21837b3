// Squares 1000 integers on the GPU, with the driver API from beginning to end.
#include "common/cu.hpp"
#include "common/image.hpp"

#include <cstdio>
#include <numeric>
#include <vector>

int main() {
  int count = 1000;
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 1);  // 1, 2, … 1000
  std::size_t bytes = count * sizeof(int);

  CU_CHECK(cuInit(0));
  CUdevice device;
  CU_CHECK(cuDeviceGet(&device, 0));
  CUcontext context;
  CU_CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CU_CHECK(cuCtxSetCurrent(context));

  CUmodule module;
  CU_CHECK(cuModuleLoad(&module, cu::image("kernels.ptx").c_str()));
  CUfunction square;
  CU_CHECK(cuModuleGetFunction(&square, module, "square"));

  CUdeviceptr memory;
  CU_CHECK(cuMemAlloc(&memory, bytes));
  CU_CHECK(cuMemcpyHtoD(memory, numbers.data(), bytes));

  int blocks = (count + 255) / 256;
  void* arguments[] = {&memory, &count};
  CU_CHECK(cuLaunchKernel(square, blocks, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  std::printf("after the launch   %d %d %d … %d\n", numbers[0], numbers[1], numbers[2], numbers[999]);

  CU_CHECK(cuMemcpyDtoH(numbers.data(), memory, bytes));
  std::printf("after the copy     %d %d %d … %d\n", numbers[0], numbers[1], numbers[2], numbers[999]);

  CU_CHECK(cuMemFree(memory));
  CU_CHECK(cuModuleUnload(module));
  CU_CHECK(cuDevicePrimaryCtxRelease(device));

  int squared = 0;
  for (int i = 0; i < count; ++i) squared += numbers[i] == (i + 1) * (i + 1);
  std::printf("%d of %d numbers are squared\n", squared, count);
  return squared == count ? 0 : 1;
}
