// Measures how fast bytes move between host and device, from ordinary memory and from page-locked memory.
#include "common/cu.hpp"
#include "common/measure.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

constexpr std::size_t kSmallest = 4 << 10, kLargest = 64 << 20;  // bytes
constexpr int kLongestBar = 30;                                  // characters

// In GB/s, from the call to the last byte.
double bandwidth(bool to_device, CUdeviceptr device, void* host, std::size_t bytes) {
  auto copy = [&] {
    if (to_device) {
      CU_CHECK(cuMemcpyHtoD(device, host, bytes));
    } else {
      CU_CHECK(cuMemcpyDtoH(host, device, bytes));
    }
    CU_CHECK(cuCtxSynchronize());  // from pageable memory, cuMemcpyHtoD may return while bytes are still on their way
  };
  return bytes / cu::median_seconds(copy) / 1e9;
}

// One line of the chart: the bars of the whole chart have one scale.
void draw(std::size_t bytes, double pageable, double pinned, double full_scale) {
  const bool mib = bytes >= 1 << 20;
  std::printf("%4zu %s | %5.1f %s | %5.1f %s\n", mib ? bytes >> 20 : bytes >> 10, mib ? "MiB" : "KiB", pageable,
              cu::bar(pageable, full_scale, kLongestBar).c_str(), pinned,
              cu::bar(pinned, full_scale, kLongestBar).c_str());
}

int main() try {
  cu::Context context;
  const double limit = cu::print_device_and_link(context.device);

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
