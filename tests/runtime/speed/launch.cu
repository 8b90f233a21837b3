// Measures what a launch costs with <<< >>> and with cuLaunchKernel, and how long the first launch of a program with a
// hundred kernels takes. Prints microseconds.
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>
#include <vector>

template <int number>
__global__ void kernel(int* to) {
  if (to != nullptr) *to = number;
}

using Clock = std::chrono::steady_clock;
static double microseconds(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

// The median of many short series, in microseconds per launch.
template <class Launch>
double cost(Launch launch) {
  constexpr int kSeries = 101, kLaunches = 100;
  std::vector<double> times;
  for (int i = 0; i < kSeries; ++i) {
    const auto begin = Clock::now();
    for (int j = 0; j < kLaunches; ++j) launch();
    times.push_back(microseconds(Clock::now() - begin) / kLaunches);
    cudaDeviceSynchronize();
  }
  std::nth_element(times.begin(), times.begin() + kSeries / 2, times.end());
  return times[kSeries / 2];
}

template <int... numbers>
void launch_all(std::integer_sequence<int, numbers...>) {
  (kernel<numbers><<<1, 1>>>(nullptr), ...);
}

int main() {
  cudaFree(nullptr);
  const auto begin = Clock::now();
  kernel<0><<<1, 1>>>(nullptr);
  cudaDeviceSynchronize();
  const auto first = Clock::now();
  launch_all(std::make_integer_sequence<int, 100>());
  cudaDeviceSynchronize();
  const auto all = Clock::now();

  cudaFunction_t function = nullptr;
  cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(kernel<0>));
  int* pointer = nullptr;
  void* arguments[] = {&pointer};
  const double runtime = cost([&] { kernel<0><<<1, 1>>>(pointer); });
  const double by_pointer =
      cost([&] { cudaLaunchKernel(reinterpret_cast<const void*>(kernel<0>), dim3(1), dim3(1), arguments, 0, nullptr); });
  const double driver = cost(
      [&] { cuLaunchKernel(reinterpret_cast<CUfunction>(function), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr); });
  std::printf("first launch, which loads 100 kernels: %.1f\n", microseconds(first - begin));
  std::printf("each of the 100 once: %.1f\n", microseconds(all - first));
  std::printf("<<< >>>: %.3f, cudaLaunchKernel: %.3f, cuLaunchKernel: %.3f\n", runtime, by_pointer, driver);
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
