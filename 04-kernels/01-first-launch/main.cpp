// Loads a kernel, launches one thread of it, waits, and copies its result back. Prints how long each call took.
#include "common/cu.hpp"
#include "common/image.hpp"

#include <chrono>

// Prints the time since the last lap.
class Stopwatch {
 public:
  void lap(const char* call, const char* remark) {
    const std::chrono::duration<double, std::milli> elapsed = Clock::now() - start_;
    std::printf("%-20s %8.3f ms   %s\n", call, elapsed.count(), remark);
    start_ = Clock::now();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

int main() try {
  cu::Primary context;
  cu::Memory number(sizeof(int)), sum(sizeof(int));
  const int input = 46000;
  CU_CHECK(cuMemcpyHtoD(number.address, &input, sizeof input));
  Stopwatch watch;

  CUmodule module;
  CU_CHECK(cuModuleLoad(&module, cu::image("kernels.ptx").c_str()));
  watch.lap("cuModuleLoad", "loads kernels.ptx (compiles it unless cached)");

  CUfunction square;
  CU_CHECK(cuModuleGetFunction(&square, module, "square"));
  watch.lap("cuModuleGetFunction", "finds the kernel");

  void* arguments[] = {&number.address, &sum.address};
  CU_CHECK(cuLaunchKernel(square, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  watch.lap("cuLaunchKernel", "launches 1 block of 1 thread");

  CU_CHECK(cuCtxSynchronize());
  watch.lap("cuCtxSynchronize", "waits until the kernel has finished");

  int squared = 0;
  CU_CHECK(cuMemcpyDtoH(&squared, sum.address, sizeof squared));
  watch.lap("cuMemcpyDtoH", "copies the result");

  CU_CHECK(cuModuleUnload(module));
  std::printf("\n%d squared is %d\n", input, squared);
  return squared == input * input ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
