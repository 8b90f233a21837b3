// A ladder: six kernels that add up numbers, each checked against the CPU, then timed, beside what memory gives at
// most.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "library.hpp"

#include <functional>
#include <numeric>
#include <vector>

constexpr int kThreads = 256;    // a block
constexpr int kLongestBar = 24;  // characters

struct Rung {
  const char* kernel;
  const char* idea;
  bool fits;  // the grid has as many blocks as fit on the device; else a thread for every number
};

constexpr Rung kLadder[] = {
    {"atomics", "every number to one place", false},
    {"spread", "a block first: neighbours", false},
    {"halves", "the same: upper to lower half", false},
    {"shuffles", "the same: without shared memory", false},
    {"many", "many numbers a thread", true},
    {"vectors", "sixteen bytes, four at a time", true},
};

// How many numbers: a power of two, so many that the device has some time to run, judged by a small sum. A
// launch takes some microseconds whatever it does, and should not be what is measured.
std::size_t count_for(CUfunction many, std::size_t total_bytes) {
  unsigned long long n = 1 << 19;
  cu::Memory in(n * sizeof(unsigned)), sum(sizeof(unsigned));
  CU_CHECK(cuMemsetD8(in.address, 0, n * sizeof(unsigned)));
  CU_CHECK(cuMemsetD8(sum.address, 0, sizeof(unsigned)));
  void* arguments[] = {&in.address, &sum.address, &n};
  const double speed = n * sizeof(unsigned) / cu::median_device_seconds([&] {
                         CU_CHECK(cuLaunchKernel(many, 256, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr));
                       });
  while (2 * n * sizeof(unsigned) < speed * 0.004 && 2 * n * sizeof(unsigned) < total_bytes / 64) n *= 2;
  return n;
}

// Checks, then measures, then prints: `work` leaves the sum on the device. False if it is wrong.
bool climb(const char* name, const char* idea, const std::function<void()>& work, CUdeviceptr sum, unsigned expected,
           std::size_t bytes, double limit) {
  unsigned got;
  work();
  CU_CHECK(cuMemcpyDtoH(&got, sum, sizeof got));
  if (got != expected) {
    std::printf("%-8s %-32s WRONG: not timed\n", name, idea);
    return false;
  }
  const double speed = bytes / cu::median_device_seconds(work) / 1e9, share = limit > 0 ? speed / limit : 0;
  std::printf("%-8s %-32s %7.1f  %4.2f %s\n", name, idea, speed, share, cu::bar(share, 1, kLongestBar).c_str());
  return true;
}

int main() try {
  cu::Context context;
  cu::Module module(cu::image("kernels.ptx"));
  char name[100];
  std::size_t total_bytes;
  CU_CHECK(cuDeviceGetName(name, sizeof name, context.device));
  CU_CHECK(cuDeviceTotalMem(&total_bytes, context.device));

  unsigned long long n = count_for(module.function("many"), total_bytes);
  const std::size_t bytes = n * sizeof(unsigned);
  std::vector<unsigned> host(n);
  for (std::size_t i = 0; i < n; ++i) host[i] = static_cast<unsigned>(i * 2654435761u >> 7);
  const unsigned expected = std::accumulate(host.begin(), host.end(), 0u);
  cu::Memory in(bytes), sum(sizeof(unsigned));
  CU_CHECK(cuMemcpyHtoD(in.address, host.data(), bytes));

  const double limit = cu::memory_limit(context.device);
  std::printf("%s, %.1f Mi numbers; its memory gives at most %.0f GB/s\n\n", name, n / 1048576.0, limit);
  std::printf("kernel   idea                                GB/s  of the limit\n");
  bool right = true;
  for (const Rung& rung : kLadder) {
    const CUfunction kernel = module.function(rung.kernel);
    int fit;
    CU_CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, kThreads, 0));
    int multiprocessors;
    CU_CHECK(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, context.device));
    const unsigned blocks = rung.fits ? fit * multiprocessors : static_cast<unsigned>((n + kThreads - 1) / kThreads);
    void* arguments[] = {&in.address, &sum.address, &n};
    auto work = [&] {
      CU_CHECK(cuMemsetD32Async(sum.address, 0, 1, nullptr));
      CU_CHECK(cuLaunchKernel(kernel, blocks, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr));
    };
    right &= climb(rung.kernel, rung.idea, work, sum.address, expected, bytes, limit);
  }
  const Library cub;  // if somebody has built it
  if (cub.sum != nullptr) {
    auto work = [&] { CU_CHECK(cub.sum(in.address, sum.address, n)); };
    right &= climb("(CUB)", "for comparison", work, sum.address, expected, bytes, limit);
  }
  return right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
