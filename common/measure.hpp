// What the lessons that measure share: the time of some work, a model of copies, limits of the device, and text bars.
//
//   cu::median_seconds(work)         how long work() takes: the median of several runs after one that does not count,
//                                    and of fewer runs if they take long
//   cu::median_device_seconds(work)  how long the device is busy with what work() puts into the default stream
//   cu::median(measure)              the same for the numbers that measure() returns
//   cu::fit(copies)                  the cu::CopyModel (latency, bandwidth) for the times of copies of several sizes
//   cu::largest_error(model, copies) how far the model is from the measured times, at most
//   cu::memory_limit(device)         the peak bandwidth of the device's memory in GB/s; 0 if the driver reports none
//   cu::arithmetic_limit(device)     the peak speed of FP32 multiply-adds in GFLOP/s
//   cu::link_limit(device)           the peak bandwidth of the device's PCIe link in GB/s; 0 if Linux reports none
//   cu::print_device(device)         the first line of a measured lesson: the device's name
//   cu::print_device_and_link(…)     and a second line with the limit of the link
//   cu::bar(value, full_scale, n)    a bar of at most n characters, n of them for the full scale
//
// Lesson 03-04 explains how the lessons measure. The work of median_seconds must have finished when work() returns, so
// put cuCtxSynchronize or cuStreamSynchronize inside. The work of median_device_seconds need not wait.
#pragma once
#include "common/cu.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace cu {

template <class Measure>
double median(Measure measure, int runs = 7) {
  using Clock = std::chrono::steady_clock;
  measure();  // the first run may include work that the driver does only once
  std::vector<double> values;
  // Long runs vary less than short ones, so a second's worth of them is enough.
  const auto enough = Clock::now() + std::chrono::seconds(1);
  do values.push_back(measure());
  while (static_cast<int>(values.size()) < runs && Clock::now() < enough);
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <class Work>
double median_seconds(Work work, int runs = 7) {
  using Clock = std::chrono::steady_clock;
  return median(
      [&] {
        const auto start = Clock::now();
        work();
        return std::chrono::duration<double>(Clock::now() - start).count();
      },
      runs);
}

// Two events around the work take the time, so neither the host's calls nor its wait are included.
template <class Work>
double median_device_seconds(Work work, int runs = 7) {
  const Event start, end;
  return median(
      [&] {
        float milliseconds;
        CU_THROW(cuEventRecord(start.handle, nullptr));
        work();
        CU_THROW(cuEventRecord(end.handle, nullptr));
        CU_THROW(cuEventSynchronize(end.handle));
        CU_THROW(cuEventElapsedTime(&milliseconds, start.handle, end.handle));
        return milliseconds * 1e-3;
      },
      runs);
}

// One copy of a series: its size and the time it took.
struct TimedCopy {
  double bytes;
  double seconds;
};

// time = latency + bytes / bandwidth
struct CopyModel {
  double latency;    // seconds that every copy takes, whatever its size
  double bandwidth;  // bytes per second

  double seconds(double bytes) const { return latency + bytes / bandwidth; }
  double half_size() const { return latency * bandwidth; }  // a copy of this size reaches half of the bandwidth
};

// The model with the smallest squares of relative errors. Each copy gives one equation, latency + slope × bytes =
// seconds. Divided by the seconds, it counts as much for a small copy as for a large one.
inline CopyModel fit(const std::vector<TimedCopy>& copies) {
  double xx = 0, xy = 0, yy = 0, x_sum = 0, y_sum = 0;
  for (const TimedCopy& copy : copies) {
    const double x = 1 / copy.seconds, y = copy.bytes / copy.seconds;  // latency * x + slope * y = 1
    xx += x * x, xy += x * y, yy += y * y, x_sum += x, y_sum += y;
  }
  const double determinant = xx * yy - xy * xy;
  const double latency = (x_sum * yy - y_sum * xy) / determinant, slope = (y_sum * xx - x_sum * xy) / determinant;
  if (latency < 0) return {0, yy / y_sum};  // these times show no latency
  if (slope <= 0) return {x_sum / xx, std::numeric_limits<double>::infinity()};  // the size makes no difference
  return {latency, 1 / slope};
}

// 0.1 if the model is 10 % too high or too low for one copy, and closer for all others.
inline double largest_error(const CopyModel& model, const std::vector<TimedCopy>& copies) {
  double largest = 0;
  for (const TimedCopy& copy : copies) {
    largest = std::max(largest, std::abs(model.seconds(copy.bytes) / copy.seconds - 1));
  }
  return largest;
}

// The memory clock, two transfers per cycle, times the width of the bus.
inline double memory_limit(CUdevice device) {
  int kilohertz, bits;
  CU_THROW(cuDeviceGetAttribute(&kilohertz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, device));
  CU_THROW(cuDeviceGetAttribute(&bits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device));
  return 2e3 * kilohertz * bits / 8 / 1e9;
}

// FP32 lanes per multiprocessor × 2 operations per multiply-add × clock. Source of the lanes: CUDA C++ Programming
// Guide, "Arithmetic Instructions", row "32-bit floating-point add, multiply, multiply-add".
inline double arithmetic_limit(CUdevice device) {
  int major, minor, multiprocessors, kilohertz;
  CU_THROW(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  CU_THROW(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  CU_THROW(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  CU_THROW(cuDeviceGetAttribute(&kilohertz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device));
  const int lanes = major < 8 || (major == 8 && minor == 0) ? 64 : 128;
  return 2.0 * lanes * multiprocessors * kilohertz / 1e6;
}

// The driver API has no call for this, so Linux is asked about the card's end of the link. The slot's end may be
// slower, but a virtual machine invents that number.
inline double link_limit(CUdevice device) {
  char address[20] = "";
  CU_THROW(cuDeviceGetPCIBusId(address, sizeof address, device));
  for (char& c : address) c = static_cast<char>(std::tolower(c));
  const std::string folder = std::string("/sys/bus/pci/devices/") + address;
  std::string vendor;
  double gigabits_per_lane = 0, lanes = 0;
  std::ifstream(folder + "/vendor") >> vendor;
  std::ifstream(folder + "/max_link_speed") >> gigabits_per_lane;
  std::ifstream(folder + "/max_link_width") >> lanes;
  if (vendor != "0x10de") return 0;  // not an NVIDIA card: the simulator's address may belong to another device
  const double payload = gigabits_per_lane < 8 ? 8.0 / 10 : 128.0 / 130;  // 8 bits are sent as 10, or 128 as 130
  return gigabits_per_lane * lanes / 8 * payload;
}

// The name of a simulated device says that it is simulated.
inline void print_device(CUdevice device) {
  char name[100];
  CU_THROW(cuDeviceGetName(name, sizeof name, device));
  std::printf("%s\n", name);
}

// Returns the link's limit in GB/s, or 0 if it is unknown.
inline double print_device_and_link(CUdevice device) {
  print_device(device);
  const double limit = link_limit(device);
  if (limit > 0) {
    std::printf("The link carries at most %.1f GB/s.\n", limit);
  } else {
    std::printf("The link's limit is unknown.\n");
  }
  return limit;
}

// Padded with spaces to n characters, so that a column may follow.
inline std::string bar(double value, double full_scale, int n) {
  std::string drawn;
  for (int i = 0; i < n; ++i) drawn += i < value / full_scale * n - 0.5 ? "█" : " ";
  return drawn;
}

}  // namespace cu
