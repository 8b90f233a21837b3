// Uses one pointer on the host and on the device, and measures what it costs that the bytes are in one place only.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"

#include <algorithm>
#include <map>

constexpr int kNumbers = 2 << 20;
constexpr std::size_t kBytes = kNumbers * sizeof(int);
constexpr int kRounds = 5;

using Times = std::map<std::string, std::vector<double>>;  // by the name of what was timed

int main() try {
  cu::Context context;
  cu::print_device_and_link(context.device);
  cu::Module module(cu::image("kernels.ptx"));
  const CUfunction add_one = module.function("add_one");
  CUmemLocation device{}, host{};
  device.type = CU_MEM_LOCATION_TYPE_DEVICE;
  device.id = context.device;
  host.type = CU_MEM_LOCATION_TYPE_HOST;

  CUdeviceptr address;
  CU_CHECK(cuMemAllocManaged(&address, kBytes, CU_MEM_ATTACH_GLOBAL));
  int* numbers = reinterpret_cast<int*>(address);  // the same address, for the host
  cu::Memory plain(kBytes);
  cu::Pinned pinned(kBytes);

  Times times;
  std::vector<std::string> order;
  auto timed = [&](const char* name, auto work) {
    if (times[name].empty()) order.push_back(name);
    const auto start = std::chrono::steady_clock::now();
    work();
    CU_CHECK(cuCtxSynchronize());
    times[name].push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  };
  auto kernel_on = [&](CUdeviceptr memory) {
    int n = kNumbers;
    void* arguments[] = {&memory, &n};
    CU_CHECK(cuLaunchKernel(add_one, 1024, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  };
  auto kernel = [&] { kernel_on(address); };
  bool right = true;
  auto host_reads = [&] {
    for (int i = 0; i < kNumbers; i += 512) right &= numbers[i] == numbers[0];
  };

  for (int round = 0; round < kRounds; ++round) {
    timed("the host writes it all", [&] { std::fill_n(numbers, kNumbers, round); });
    timed("a kernel, after the host", kernel);
    timed("a kernel once more", kernel);
    timed("the host, after the kernel", host_reads);
    timed("prefetch to the device", [&] { CU_CHECK(cuMemPrefetchAsync(address, kBytes, device, 0, nullptr)); });
    timed("a kernel, after that", kernel);
    timed("prefetch to the host", [&] { CU_CHECK(cuMemPrefetchAsync(address, kBytes, host, 0, nullptr)); });
    timed("the host, after that", host_reads);

    // Advice: it is mostly read, so a prefetch may leave a copy here.
    CU_CHECK(cuMemAdvise(address, kBytes, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
    CU_CHECK(cuMemPrefetchAsync(address, kBytes, device, 0, nullptr));
    CU_CHECK(cuCtxSynchronize());
    timed("the host, both have a copy", host_reads);
    CU_CHECK(cuMemAdvise(address, kBytes, CU_MEM_ADVISE_UNSET_READ_MOSTLY, device));
    right &= numbers[kNumbers - 1] == round + 3;

    timed("for comparison: copy to device", [&] { CU_CHECK(cuMemcpyHtoD(plain.address, pinned.address, kBytes)); });
    timed("a kernel on plain memory", [&] { kernel_on(plain.address); });
  }

  std::printf("\nms                             |\n");
  double longest = 0;
  for (auto& [name, runs] : times) {
    std::nth_element(runs.begin(), runs.begin() + kRounds / 2, runs.end());
    longest = std::max(longest, runs[kRounds / 2]);
  }
  for (const std::string& name : order) {
    const double time = times[name][kRounds / 2];
    std::printf("%-30s | %8.3f %s\n", name.c_str(), time, cu::bar(time, longest, 40).c_str());
  }

  CU_CHECK(cuMemFree(address));
  std::printf("\n%s\n", right ? "Host and device have seen the same numbers." : "Somebody saw other numbers.");
  return right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
