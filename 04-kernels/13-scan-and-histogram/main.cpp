// Two ladders: counting byte values, and running sums. Each rung is checked against the CPU, then timed.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "library.hpp"

#include <algorithm>
#include <functional>
#include <vector>

constexpr int kThreads = 256, kTile = 16384;  // of a block, as in kernels.cu
constexpr int kLongestBar = 24;               // characters

using Work = std::function<void()>;

void launch(CUfunction kernel, unsigned blocks, std::initializer_list<const void*> arguments) {
  std::vector<void*> addresses;
  for (const void* argument : arguments) addresses.push_back(const_cast<void*>(argument));
  CU_CHECK(cuLaunchKernel(kernel, blocks, 1, 1, kThreads, 1, 1, 0, nullptr, addresses.data(), nullptr));
}

// Checks, then measures, then prints; false if it is wrong.
bool climb(const char* name, const char* idea, const Work& work, const std::function<bool()>& right, std::size_t bytes,
           double limit) {
  work();
  if (!right()) {
    std::printf("%-14s %-34s WRONG: not timed\n", name, idea);
    return false;
  }
  const double speed = bytes / cu::median_device_seconds(work) / 1e9, share = limit > 0 ? speed / limit : 0;
  std::printf("%-14s %-34s %7.1f  %4.2f %s\n", name, idea, speed, share, cu::bar(share, 1, kLongestBar).c_str());
  return true;
}

// How many numbers: a power of two, so many that the device has some time to run, judged by a small histogram.
unsigned long long count_for(CUfunction histogram, std::size_t total_bytes) {
  unsigned long long n = 1 << 18, bytes = n * sizeof(unsigned);
  cu::Memory in(bytes), bins(256 * sizeof(unsigned));
  CU_CHECK(cuMemsetD8(in.address, 0, bytes));
  CU_CHECK(cuMemsetD32(bins.address, 0, 256));
  const double speed = bytes / cu::median_device_seconds([&] {
                         launch(histogram, 256, {&in.address, &bins.address, &bytes});
                       });
  while (2 * n * sizeof(unsigned) < speed * 0.004 && 2 * n * sizeof(unsigned) < total_bytes / 128) n *= 2;
  return n;
}

int main() try {
  cu::Context context;
  cu::Module module(cu::image("kernels.ptx"));
  char name[100];
  std::size_t total_bytes;
  CU_CHECK(cuDeviceGetName(name, sizeof name, context.device));
  CU_CHECK(cuDeviceTotalMem(&total_bytes, context.device));
  const double limit = cu::memory_limit(context.device);
  unsigned long long n = count_for(module.function("private_bins"), total_bytes), bytes = n * sizeof(unsigned);
  std::vector<unsigned> numbers(n), sums(n), counts(256), got(n);
  for (std::size_t i = 0, sum = 0; i < n; ++i) {
    numbers[i] = static_cast<unsigned>(i * 2654435761u) ^ static_cast<unsigned>(i >> 9);
    for (int byte = 0; byte < 32; byte += 8) ++counts[numbers[i] >> byte & 255];
    sums[i] = static_cast<unsigned>(sum += numbers[i]);
  }
  unsigned tiles = static_cast<unsigned>(n / kTile);
  cu::Memory in(bytes), out(bytes), bins(256 * sizeof(unsigned)), of_tiles((tiles + 1) * sizeof(unsigned long long));
  CU_CHECK(cuMemcpyHtoD(in.address, numbers.data(), bytes));
  std::printf("%s, %.1f MB; its memory gives at most %.0f GB/s\n\n", name, bytes / 1e6, limit);
  int multiprocessors;
  CU_CHECK(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, context.device));
  const unsigned blocks = 8 * multiprocessors;

  const auto counted = [&] {
    CU_CHECK(cuMemcpyDtoH(got.data(), bins.address, 256 * sizeof(unsigned)));
    return std::equal(counts.begin(), counts.end(), got.begin());
  };
  auto histogram = [&](const char* kernel, const char* idea) {
    const Work work = [&, function = module.function(kernel)] {
      CU_CHECK(cuMemsetD32Async(bins.address, 0, 256, nullptr));
      launch(function, blocks, {&in.address, &bins.address, &bytes});
    };
    return climb(kernel, idea, work, counted, bytes, limit);
  };
  std::printf("histogram                                            GB/s  of the limit\n");
  bool right = histogram("global_bins", "256 places for everybody");
  right &= histogram("private_bins", "a block has its own");
  right &= histogram("warp_bins", "a warp has; sixteen bytes at once");

  const auto scanned = [&] {
    CU_CHECK(cuMemcpyDtoH(got.data(), out.address, bytes));
    CU_CHECK(cuMemsetD8(out.address, 0, bytes));  // for the next one
    return got == sums;
  };
  const CUfunction scan_tiles = module.function("scan_tiles"), scan_sums = module.function("scan_sums");
  const CUfunction add_sums = module.function("add_sums"), sum_tiles = module.function("sum_tiles");
  const CUfunction scan_with_sums = module.function("scan_with_sums"), one_pass = module.function("one_pass");
  std::printf("\nscan\n");
  const Work scan_then_add = [&] {
    launch(scan_tiles, tiles, {&in.address, &out.address, &of_tiles.address});
    launch(scan_sums, 1, {&of_tiles.address, &tiles});
    launch(add_sums, tiles, {&out.address, &of_tiles.address});
  };
  right &= climb("scan, then add", "every number moves four times", scan_then_add, scanned, 2 * bytes, limit);
  const Work sum_then_scan = [&] {
    launch(sum_tiles, tiles, {&in.address, &of_tiles.address});
    launch(scan_sums, 1, {&of_tiles.address, &tiles});
    launch(scan_with_sums, tiles, {&in.address, &out.address, &of_tiles.address});
  };
  right &= climb("sum, then scan", "three times", sum_then_scan, scanned, 2 * bytes, limit);
  const Work look_back = [&] {
    CU_CHECK(cuMemsetD8Async(of_tiles.address, 0, (tiles + 1) * sizeof(unsigned long long), nullptr));
    launch(one_pass, tiles, {&in.address, &out.address, &of_tiles.address});
  };
  right &= climb("one pass", "twice: each tile looks back", look_back, scanned, 2 * bytes, limit);
  const Library cub;  // if somebody has built it
  const Work cubs = [&] { CU_CHECK(cub.scan(in.address, out.address, n)); };
  if (cub.scan != nullptr) right &= climb("(CUB)", "for comparison", cubs, scanned, 2 * bytes, limit);
  return right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
