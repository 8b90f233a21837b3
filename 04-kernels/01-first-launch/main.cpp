// Loads a kernel, launches one thread of it, waits, and fetches what it wrote.
#include "common/cu.hpp"
#include "common/image.hpp"

int main() try {
  cu::Context context;

  CUmodule module;
  CU_CHECK(cuModuleLoad(&module, cu::image("kernels.ptx").c_str()));
  std::printf("cuModuleLoad         kernels.ptx is compiled for this device\n");

  CUfunction square;
  CU_CHECK(cuModuleGetFunction(&square, module, "square"));
  std::printf("cuModuleGetFunction  square is in it\n");

  int number = 7;
  cu::Memory memory(sizeof number);
  CU_CHECK(cuMemcpyHtoD(memory.address, &number, sizeof number));
  std::printf("cuMemcpyHtoD         the device has %d\n", number);

  void* arguments[] = {&memory.address};  // where each argument of the kernel is to be read from
  CU_CHECK(cuLaunchKernel(square, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  std::printf("cuLaunchKernel       1 block of 1 thread is on its way\n");

  CU_CHECK(cuCtxSynchronize());
  std::printf("cuCtxSynchronize     it has run\n");

  CU_CHECK(cuMemcpyDtoH(&number, memory.address, sizeof number));
  std::printf("cuMemcpyDtoH         the host has %d\n", number);

  CU_CHECK(cuModuleUnload(module));
  return number == 49 ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
