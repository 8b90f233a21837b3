// The speed and the clock rate of a device that is kept busy. Under load, a device may lower its clock rate.
#pragma once
#include "04-kernels/clock.hpp"
#include "common/measure.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// The time of one execution of `work`: the median while the device is kept busy for `budget` seconds. The first half of
// that time does not count.
inline double sustained_seconds(const std::function<void()>& work, double budget) {
  using Clock = std::chrono::steady_clock;
  const double once = cu::median_device_seconds(work, 1);
  if (once > 0.03) return once;
  const int launches = static_cast<int>(std::clamp(2e-3 / once, 1.0, 100.0));  // between two events
  const cu::Event start, end;
  std::vector<double> times;
  const auto stop = Clock::now() + std::chrono::duration<double>(budget);
  do {
    float milliseconds;
    CU_CHECK(cuEventRecord(start.handle, nullptr));
    for (int i = 0; i < launches; ++i) work();
    CU_CHECK(cuEventRecord(end.handle, nullptr));
    CU_CHECK(cuEventSynchronize(end.handle));
    CU_CHECK(cuEventElapsedTime(&milliseconds, start.handle, end.handle));
    times.push_back(milliseconds * 1e-3 / launches);
  } while (Clock::now() < stop);
  return median({times.begin() + times.size() / 2, times.end()});
}

// The average clock rate of the multiprocessors, in GHz, while the device does `work` for about `budget` seconds. Call
// it when the device has been under this load for some time. The module contains the kernel of clock.hpp.
inline double gigahertz(const cu::Module& module, const std::function<void()>& work, double budget) {
  const CUfunction kernel = module.function("stamp_clocks");
  const cu::Memory memory(2 * kMostMultiprocessors * sizeof(Stamp));
  CU_CHECK(cuMemsetD8(memory.address, 0, 2 * kMostMultiprocessors * sizeof(Stamp)));
  const auto stamp = [&](int which) {
    CUdeviceptr to = memory.address + which * kMostMultiprocessors * sizeof(Stamp);
    void* arguments[] = {&to};
    CU_CHECK(cuLaunchKernel(kernel, 4 * kMostMultiprocessors, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  };
  const int launches = static_cast<int>(std::clamp(budget / cu::median_device_seconds(work, 1), 1.0, 1000.0));
  stamp(0);
  for (int i = 0; i < launches; ++i) work();
  stamp(1);
  std::vector<Stamp> stamps(2 * kMostMultiprocessors);
  CU_CHECK(cuMemcpyDtoH(stamps.data(), memory.address, stamps.size() * sizeof(Stamp)));
  double cycles = 0, nanoseconds = 0;
  for (int i = 0; i < kMostMultiprocessors; ++i) {
    const Stamp &first = stamps[i], &last = stamps[i + kMostMultiprocessors];
    if (first.nanoseconds == 0 || last.nanoseconds == 0) continue;
    cycles += static_cast<double>(last.cycles - first.cycles);
    nanoseconds += static_cast<double>(last.nanoseconds - first.nanoseconds);
  }
  return cycles / nanoseconds;
}
