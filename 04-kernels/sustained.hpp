// The speed and the clock rate of a device that is kept busy. Under load, a device may lower its clock rate.
#pragma once
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

// The clock rate in MHz that the kernel of clock.hpp measures while `work` is in progress or has just ended.
inline double megahertz(const cu::Module& module) {
  struct Measured {
    unsigned long long cycles, nanoseconds;
  } measured;
  const cu::Memory memory(sizeof measured);
  void* arguments[] = {const_cast<CUdeviceptr*>(&memory.address)};
  CU_CHECK(cuLaunchKernel(module.function("measure_clock"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(&measured, memory.address, sizeof measured));
  return 1e3 * static_cast<double>(measured.cycles) / static_cast<double>(measured.nanoseconds);
}
