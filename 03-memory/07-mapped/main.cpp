// Lets a kernel read host memory over the interconnect, and compares that with copying the data to the device first.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"

#include <algorithm>
#include <numeric>

constexpr int kNumbers = 2 << 20, kBlocks = 264, kThreads = 256;  // two blocks for each multiprocessor of an H200
constexpr std::size_t kBytes = kNumbers * sizeof(float), kSumBytes = kBlocks * kThreads * sizeof(float);

struct Work {
  const char* name;
  const char* kernel;
  int step, times;
};

int main() try {
  cu::Primary context;
  cu::print_device_and_link(context.device);
  cu::Module module(cu::image("kernels.ptx"));

  cu::Pinned numbers(kBytes), sums(kSumBytes);
  std::fill_n(numbers.as<float>(), kNumbers, 1.0f);
  CUdeviceptr numbers_on_device, sums_on_device;
  CU_CHECK(cuMemHostGetDevicePointer(&numbers_on_device, numbers.address, 0));
  CU_CHECK(cuMemHostGetDevicePointer(&sums_on_device, sums.address, 0));
  cu::Memory copy(kBytes);

  bool correct = true;
  std::printf("\nms, result on the host         | copy, then compute | compute on mapped memory | speedup\n");
  for (Work work :
       {Work{"each number once", "add_up", 1, 1}, Work{"four times, volatile loads", "add_up_volatile", 1, 4},
        Work{"four times, ordinary loads", "add_up", 1, 4}, Work{"four times, L2 only (ld.cg)", "add_up_cg", 1, 4},
        Work{"one number in 1024", "add_up", 1024, 1}}) {
    const CUfunction kernel = module.function(work.kernel);
    int n = kNumbers;
    auto launch_on = [&](CUdeviceptr address) {
      void* arguments[] = {&address, &n, &work.step, &work.times, &sums_on_device};
      CU_CHECK(cuLaunchKernel(kernel, kBlocks, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr));
      CU_CHECK(cuCtxSynchronize());
    };
    const double copied = cu::median_seconds([&] {
      CU_CHECK(cuMemcpyHtoD(copy.address, numbers.address, kBytes));
      launch_on(copy.address);
    });
    const double mapped = cu::median_seconds([&] { launch_on(numbers_on_device); });
    const float* sum = sums.as<float>();  // the kernel has written to host memory, so there is nothing to copy back
    correct &= std::accumulate(sum, sum + kBlocks * kThreads, 0.0) == double(kNumbers) / work.step * work.times;
    std::printf("%-30s | %18.3f | %24.3f | %6.2f %s\n", work.name, copied * 1e3, mapped * 1e3, copied / mapped,
                cu::bar(copied / mapped, 10, 20).c_str());
  }

  for (int i = 0; i < 8; ++i) numbers.as<float>()[i] = static_cast<float>(i);
  int eight = 8;
  void* arguments[] = {&numbers_on_device, &eight};
  CU_CHECK(cuLaunchKernel(module.function("square"), 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuCtxSynchronize());
  std::printf("\nsquared in place:");
  for (int i = 0; i < 8; ++i) {
    std::printf(" %g", numbers.as<float>()[i]);
    correct &= numbers.as<float>()[i] == static_cast<float>(i * i);
  }

  int pageable_access;
  CU_CHECK(cuDeviceGetAttribute(&pageable_access, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, context.device));
  std::printf("\nkernels can access pageable memory: %s\n", pageable_access != 0 ? "yes" : "no");
  return correct ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
