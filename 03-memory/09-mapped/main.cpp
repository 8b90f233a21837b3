// Lets a kernel read host memory over the link, and compares that with copying first.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"

#include <algorithm>
#include <numeric>

constexpr int kNumbers = 2 << 20, kBlocks = 264, kThreads = 256;  // two blocks for each multiprocessor of an H200
constexpr std::size_t kBytes = kNumbers * sizeof(float), kSumBytes = kBlocks * kThreads * sizeof(float);

struct Work {
  const char* name;
  int step, times;
};

int main() try {
  cu::Context context;
  cu::print_device_and_link(context.device);
  cu::Module module(cu::image("kernels.ptx"));
  const CUfunction visit = module.function("visit"), square = module.function("square");

  // Host memory: the numbers, and the sums that the kernel writes. Device memory: a place to copy the numbers to.
  cu::Pinned numbers(kBytes), sums(kSumBytes);
  cu::Memory copy(kBytes);
  std::fill_n(numbers.as<float>(), kNumbers, 1.0f);
  CUdeviceptr numbers_address, sums_address;
  CU_CHECK(cuMemHostGetDevicePointer(&numbers_address, numbers.address, 0));
  CU_CHECK(cuMemHostGetDevicePointer(&sums_address, sums.address, 0));

  bool right = true;
  std::printf("\nms, answer on the host  | copy, compute | compute over the link | times as fast\n");
  for (Work work :
       {Work{"each number once", 1, 1}, Work{"each number four times", 1, 4}, Work{"one number in 1024", 1024, 1}}) {
    int n = kNumbers;
    auto launch_on = [&](CUdeviceptr address) {
      void* arguments[] = {&address, &n, &work.step, &work.times, &sums_address};
      CU_CHECK(cuLaunchKernel(visit, kBlocks, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr));
      CU_CHECK(cuCtxSynchronize());
    };
    const double copied = cu::median_seconds([&] {
      CU_CHECK(cuMemcpyHtoD(copy.address, numbers.address, kBytes));
      launch_on(copy.address);
    });
    const double mapped = cu::median_seconds([&] { launch_on(numbers_address); });
    const float* sum = sums.as<float>();  // no copy: the kernel wrote to host memory, and it is done
    right &= std::accumulate(sum, sum + kBlocks * kThreads, 0.0) == double(kNumbers) / work.step * work.times;
    std::printf("%-23s | %13.3f | %21.3f | %6.2f %s\n", work.name, copied * 1e3, mapped * 1e3, copied / mapped,
                cu::bar(copied / mapped, 10, 20).c_str());
  }

  // A kernel that writes where it read: what the host has is changed, and no copy was asked for.
  for (int i = 0; i < 8; ++i) numbers.as<float>()[i] = static_cast<float>(i);
  int eight = 8;
  void* arguments[] = {&numbers_address, &eight};
  CU_CHECK(cuLaunchKernel(square, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuCtxSynchronize());
  std::printf("\nsquared where they lie:");
  for (int i = 0; i < 8; ++i) {
    std::printf(" %g", numbers.as<float>()[i]);
    right &= numbers.as<float>()[i] == static_cast<float>(i * i);
  }
  std::printf("\n");
  return right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
