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

// The clocks of all multiprocessors at one moment. The module contains the kernel of clock.hpp.
class Clocks {
 public:
  explicit Clocks(const cu::Module& module) : kernel_(module.function("stamp_clocks")), stamps_(kBytes) {
    CU_CHECK(cuMemsetD8(stamps_.address, 0, kBytes));
  }
  void stamp() const {
    CUdeviceptr to = stamps_.address;
    void* arguments[] = {&to};
    CU_CHECK(cuLaunchKernel(kernel_, 4 * kMostMultiprocessors, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  }
  // The average clock rate between this stamp and a later one, in GHz.
  double gigahertz_until(const Clocks& later) const {
    double cycles = 0, nanoseconds = 0;
    const std::vector<Stamp> from = read(), to = later.read();
    for (int i = 0; i < kMostMultiprocessors; ++i) {
      if (from[i].nanoseconds == 0 || to[i].nanoseconds == 0) continue;
      cycles += static_cast<double>(to[i].cycles - from[i].cycles);
      nanoseconds += static_cast<double>(to[i].nanoseconds - from[i].nanoseconds);
    }
    return cycles / nanoseconds;
  }

 private:
  static constexpr std::size_t kBytes = kMostMultiprocessors * sizeof(Stamp);
  std::vector<Stamp> read() const {
    std::vector<Stamp> stamps(kMostMultiprocessors);
    CU_CHECK(cuMemcpyDtoH(stamps.data(), stamps_.address, kBytes));
    return stamps;
  }

  CUfunction kernel_;
  cu::Memory stamps_;
};

// The time of one execution of `work`, and the clock rate of the multiprocessors, both over the second half of `budget`
// seconds during which the device is kept busy.
struct Pace {
  double seconds, gigahertz;
};
inline Pace pace(const cu::Module& module, const std::function<void()>& work, double budget) {
  const double once = cu::median_device_seconds(work, 1);
  const int launches = static_cast<int>(std::clamp(budget / 2 / once, 1.0, 10000.0));
  const Clocks before(module), after(module);
  const cu::Event start, end;
  float milliseconds;
  for (int i = 0; i < launches; ++i) work();
  before.stamp();
  CU_CHECK(cuEventRecord(start.handle, nullptr));
  for (int i = 0; i < launches; ++i) work();
  CU_CHECK(cuEventRecord(end.handle, nullptr));
  after.stamp();
  CU_CHECK(cuEventSynchronize(end.handle));
  CU_CHECK(cuEventElapsedTime(&milliseconds, start.handle, end.handle));
  return {milliseconds * 1e-3 / launches, before.gigahertz_until(after)};
}

// The clock rate alone.
inline double gigahertz(const cu::Module& module, const std::function<void()>& work, double budget) {
  return pace(module, work, budget).gigahertz;
}
