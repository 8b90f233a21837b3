// Measures how fast bytes move between host and device, from ordinary memory and from page-locked memory.
#include "common/cu.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

constexpr std::size_t kSmallest = 4 << 10, kLargest = 64 << 20;  // bytes
constexpr int kRuns = 7;
constexpr int kLongestBar = 30;  // characters

// One copy, from the call to the last byte, in seconds.
double seconds(bool to_device, CUdeviceptr device, void* host, std::size_t bytes) {
  const auto start = std::chrono::steady_clock::now();
  if (to_device) {
    CU_CHECK(cuMemcpyHtoD(device, host, bytes));
  } else {
    CU_CHECK(cuMemcpyDtoH(host, device, bytes));
  }
  CU_CHECK(cuCtxSynchronize());  // from pageable memory, cuMemcpyHtoD may return while bytes are still on their way
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// In GB/s: the median of several copies, after one that does not count.
double bandwidth(bool to_device, CUdeviceptr device, void* host, std::size_t bytes) {
  std::vector<double> runs(kRuns);
  seconds(to_device, device, host, bytes);
  for (double& run : runs) run = seconds(to_device, device, host, bytes);
  std::nth_element(runs.begin(), runs.begin() + kRuns / 2, runs.end());
  return bytes / runs[kRuns / 2] / 1e9;
}

// In GB/s: what the link carries at most, as Linux knows the card's end of it; 0 if it does not say. The driver API has
// no call for this. (The slot's end may carry less. It is not asked: a virtual machine makes its figure up.)
double link_limit(CUdevice device) {
  char address[20];
  CU_CHECK(cuDeviceGetPCIBusId(address, sizeof address, device));
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

// One line of the chart: the bars of the whole chart have one scale.
void draw(std::size_t bytes, double pageable, double pinned, double full_scale) {
  auto bar = [&](double value) {
    std::string drawn;
    for (int i = 0; i < kLongestBar; ++i) drawn += i < value / full_scale * kLongestBar - 0.5 ? "█" : " ";
    return drawn;
  };
  const bool mib = bytes >= 1 << 20;
  std::printf("%4zu %s | %5.1f %s | %5.1f %s\n", mib ? bytes >> 20 : bytes >> 10, mib ? "MiB" : "KiB", pageable,
              bar(pageable).c_str(), pinned, bar(pinned).c_str());
}

int main() try {
  cu::Context context;
  char name[100];
  CU_CHECK(cuDeviceGetName(name, sizeof name, context.device));
  const double limit = link_limit(context.device);
  std::printf("%s\n", name);
  if (limit > 0) {
    std::printf("The link carries at most %.1f GB/s.\n", limit);
  } else {
    std::printf("The link's limit is unknown.\n");
  }

  cu::Memory device(kLargest);
  std::vector<char> pageable(kLargest, 'x');
  void* pinned;
  CU_CHECK(cuMemHostAlloc(&pinned, kLargest, 0));

  for (const bool to_device : {true, false}) {
    std::vector<double> from_pageable, from_pinned;
    for (std::size_t bytes = kSmallest; bytes <= kLargest; bytes *= 4) {
      from_pageable.push_back(bandwidth(to_device, device.address, pageable.data(), bytes));
      from_pinned.push_back(bandwidth(to_device, device.address, pinned, bytes));
    }
    const double best = std::max(*std::max_element(from_pageable.begin(), from_pageable.end()),
                                 *std::max_element(from_pinned.begin(), from_pinned.end()));
    std::printf("\n%s, GB/s\n%-8s | %-36s | pinned\n", to_device ? "host to device" : "device to host", "", "pageable");
    std::size_t bytes = kSmallest;
    for (std::size_t i = 0; i < from_pinned.size(); ++i, bytes *= 4) {
      draw(bytes, from_pageable[i], from_pinned[i], std::max(best, limit));
    }
  }

  std::memset(pinned, 'y', kLargest);
  CU_CHECK(cuMemcpyHtoD(device.address, pinned, kLargest));
  CU_CHECK(cuMemcpyDtoH(pageable.data(), device.address, kLargest));
  const bool arrived = std::memcmp(pageable.data(), pinned, kLargest) == 0;
  CU_CHECK(cuMemFreeHost(pinned));
  std::printf("\n%s\n", arrived ? "All bytes arrived." : "Bytes were lost.");
  return arrived ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
