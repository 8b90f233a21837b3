// Measures what a launch costs with <<< >>> and with cuLaunchKernel, and how long the first launch of a program with a
// hundred kernels takes.
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <utility>
#include <vector>

template <int number>
__global__ void kernel(int* to) {
  if (to != nullptr) *to = number;
}

using Clock = std::chrono::steady_clock;
static double microseconds(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

// The processor time of the calling thread. Another process may use the core for a while, but does not add to this
// time.
static double processor_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

template <int... numbers>
void launch_all(std::integer_sequence<int, numbers...>) {
  (kernel<numbers><<<1, 1>>>(nullptr), ...);
}

template <class Launch>
double series(Launch launch) {
  constexpr int kLaunches = 50;
  const double begin = processor_ms();
  for (int i = 0; i < kLaunches; ++i) launch();
  const double time = 1000 * (processor_ms() - begin) / kLaunches;
  cudaDeviceSynchronize();
  return time;
}

int main() {
  cudaFree(nullptr);
  const double processor = processor_ms();
  const auto begin = Clock::now();
  kernel<0><<<1, 1>>>(nullptr);
  cudaDeviceSynchronize();
  const double first = microseconds(Clock::now() - begin) / 1000, first_processor = processor_ms() - processor;
  launch_all(std::make_integer_sequence<int, 100>());
  cudaDeviceSynchronize();

  cudaFunction_t function = nullptr;
  cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(kernel<0>));
  int* pointer = nullptr;
  void* arguments[] = {&pointer};
  // In turn, so that whatever else the machine does slows down both; the median of many series.
  constexpr int kSeries = 301;
  std::vector<double> by_runtime, by_driver;
  for (int i = 0; i < kSeries; ++i) {
    by_runtime.push_back(series([&] { kernel<0><<<1, 1>>>(pointer); }));
    by_driver.push_back(series([&] {
      cuLaunchKernel(reinterpret_cast<CUfunction>(function), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
    }));
  }
  std::sort(by_runtime.begin(), by_runtime.end());
  std::sort(by_driver.begin(), by_driver.end());
  const double runtime = by_runtime[kSeries / 2], driver = by_driver[kSeries / 2];
  std::printf("loading 100 kernels, ms of processor time: %.1f (in all: %.1f)\n", first_processor, first);
  std::printf("<<< >>>: %.3f microseconds, cuLaunchKernel: %.3f\n", runtime, driver);
  std::printf("<<< >>> costs more than cuLaunchKernel, microseconds: %.3f\n", runtime - driver);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorName(error));
  return error;
}
