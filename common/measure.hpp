// What lessons that measure share: the time of some work, the limit of the link to the device, and bars for a chart.
//
//   cu::median_seconds(work)         how long work() takes: the median of several runs, after one that does not count;
//                                    of fewer, where they take long
//   cu::median_device_seconds(work)  how long the device is busy with what work() puts into the default stream
//   cu::median(measure)              the same of what measure() returns
//   cu::memory_limit(device)         GB/s that the device's memory gives at most; 0 if the driver does not say
//   cu::arithmetic_limit(device)     GFLOP/s of FP32 multiply-adds that the device reaches at most
//   cu::link_limit(device)           GB/s that the link to the device carries at most; 0 if Linux does not say
//   cu::print_device(device)         the first line of a measured lesson: whose figures these are
//   cu::print_device_and_link(…)     and the limit of the link, in the second
//   cu::bar(value, full_scale, n)    a bar of at most n characters, n of them for the full scale
//
// Lesson 03-05 explains how a figure is made. What median_seconds measures must have ended before work() returns:
// cuCtxSynchronize or cuStreamSynchronize belong inside. For median_device_seconds, work() need not wait.
#pragma once
#include "common/cu.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

namespace cu {

template <class Measure>
double median(Measure measure, int runs = 7) {
  using Clock = std::chrono::steady_clock;
  measure();  // the first run may pay for what is set up once
  std::vector<double> values;
  // What takes long is disturbed little by what else goes on, and somebody is waiting.
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

// By two events around it, so that neither the call's own time nor the wait is in it.
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

// Memory's clock, twice a cycle, times the width of its bus.
inline double memory_limit(CUdevice device) {
  int kilohertz, bits;
  CU_THROW(cuDeviceGetAttribute(&kilohertz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, device));
  CU_THROW(cuDeviceGetAttribute(&bits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device));
  return 2e3 * kilohertz * (bits / 8) / 1e9;
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

// As Linux knows the card's end of the link; the driver API has no call for this. (The slot's end may carry less. It is
// not asked: a virtual machine makes its figure up.)
inline double link_limit(CUdevice device) {
  char address[20] = "";  // all of it is looked at below
  CU_THROW(cuDeviceGetPCIBusId(address, sizeof address, device));
  for (char& c : address) c = static_cast<char>(std::tolower(c));
  const std::string folder = std::string("/sys/bus/pci/devices/") + address;
  std::string vendor;
  double gigabits_a_lane = 0, lanes = 0;
  std::ifstream(folder + "/vendor") >> vendor;
  std::ifstream(folder + "/max_link_speed") >> gigabits_a_lane;
  std::ifstream(folder + "/max_link_width") >> lanes;
  if (vendor != "0x10de") return 0;  // not NVIDIA's: on the simulator, another device may have this address
  const double payload = gigabits_a_lane < 8 ? 8.0 / 10 : 128.0 / 130;  // 8 bits travel as 10, or 128 as 130
  return gigabits_a_lane * lanes / 8 * payload;
}

// Whose figures these are. A simulated device says in its name that it is one.
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
