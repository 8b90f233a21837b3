// Determines how many blocks fit on a multiprocessor, by arithmetic, from the driver and by counting, and measures how
// the number affects the speed of a copy. With --latency, it measures the latency of loads while other blocks load,
// too.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "probe.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

constexpr int kThreads = 256;    // per block
constexpr int kLongestBar = 24;  // characters

// The resources of one multiprocessor, as reported by the driver.
struct Multiprocessor {
  int count, threads, blocks, registers, shared, shared_per_block, reserved;

  explicit Multiprocessor(CUdevice device) {
    auto ask = [device](CUdevice_attribute which) {
      int value;
      CU_CHECK(cuDeviceGetAttribute(&value, which, device));
      return value;
    };
    count = ask(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    threads = ask(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    blocks = ask(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    registers = ask(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    shared = ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    shared_per_block = ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    reserved = ask(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  }

  // The scarcest resource decides. A quarter of the registers belongs to each of the four schedulers. They are
  // allocated to warps in units of 256.
  int computed(int registers_per_thread, int shared_bytes) const {
    const int warps = (kThreads + 31) / 32;
    const int registers_per_warp = (registers_per_thread * 32 + 255) / 256 * 256;
    const int warps_that_fit = registers / 4 / registers_per_warp * 4;
    return std::min({threads / 32 / warps, blocks, warps_that_fit / warps, shared / (shared_bytes + reserved)});
  }
};

// Returns the largest number of blocks that were resident on one multiprocessor, for a grid that just fills the device.
int counted(CUfunction kernel, const Multiprocessor& one, int blocks, int shared_bytes) {
  std::vector<int> most(one.count);
  cu::Memory now(one.count * sizeof(int)), highest(one.count * sizeof(int));
  CU_CHECK(cuMemsetD32(now.address, 0, one.count));
  CU_CHECK(cuMemsetD32(highest.address, 0, one.count));
  void* arguments[] = {&now.address, &highest.address};
  CU_CHECK(cuLaunchKernel(kernel, blocks * one.count, 1, 1, kThreads, 1, 1, shared_bytes, nullptr, arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(most.data(), highest.address, one.count * sizeof(int)));
  return *std::max_element(most.begin(), most.end());
}

// Returns the copy's GB/s, read and written bytes together.
double bandwidth(CUfunction kernel, const cu::Memory& in, const cu::Memory& out, std::size_t bytes, int grid,
                 int shared_bytes) {
  CUdeviceptr from = in.address, to = out.address;
  unsigned long long n = bytes / sizeof(float);
  void* arguments[] = {&from, &to, &n};
  auto copy = [&] {
    CU_CHECK(cuLaunchKernel(kernel, grid, 1, 1, kThreads, 1, 1, shared_bytes, nullptr, arguments, nullptr));
  };
  return 2 * bytes / cu::median_device_seconds(copy) / 1e9;
}

// Measures the latency of one thread's dependent loads, while up to `fit` blocks on each multiprocessor load as well.
void measure_latency(const cu::Module& module, const Multiprocessor& one, std::size_t bytes) {
  const CUfunction probe = module.function("probe");
  // A random cycle through elements that are 128 bytes apart: no load hits a cache line that an earlier one has
  // fetched.
  constexpr std::size_t kApart = 128 / sizeof(std::uint32_t);
  std::vector<std::uint32_t> order(bytes / 128), chain(bytes / sizeof(std::uint32_t));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  for (std::size_t i = 0; i < order.size(); ++i) {
    chain[order[i] * kApart] = static_cast<std::uint32_t>(order[(i + 1) % order.size()] * kApart);
  }
  cu::Memory links(bytes), data(bytes), result(sizeof(Probe));
  CU_CHECK(cuMemcpyHtoD(links.address, chain.data(), bytes));
  CU_CHECK(cuMemsetD8(data.address, 0, bytes));
  int fit;
  CU_CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, probe, kThreads, 0));
  std::printf("blocks that load, per multiprocessor   GB/s  latency, us\n");
  for (int loading = 0; loading <= fit; ++loading) {
    CU_CHECK(cuMemsetD8(result.address, 0, sizeof(Probe)));
    unsigned long long vectors = bytes / 16;
    int steps = 2000;
    void* arguments[] = {&links.address, &steps, &data.address, &vectors, &result.address};
    CU_CHECK(cuLaunchKernel(probe, 1 + loading * one.count, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr));
    Probe found;
    CU_CHECK(cuMemcpyDtoH(&found, result.address, sizeof found));
    std::printf("%36d %8.1f %12.3f\n", loading, static_cast<double>(found.bytes) / found.nanoseconds,
                static_cast<double>(found.nanoseconds) / steps / 1e3);
  }
}

int main(int argc, char** argv) try {
  cu::Primary context;
  cu::Module module(cu::image("kernels.ptx"));
  const CUfunction count_residents = module.function("count_residents"), copy = module.function("copy");
  const Multiprocessor one(context.device);
  cu::print_device(context.device);
  std::printf("%d multiprocessors, each: %d threads, %d blocks, %d registers, %d bytes of shared memory\n\n", one.count,
              one.threads, one.blocks, one.registers, one.shared);

  std::size_t free_bytes, bytes;
  CU_CHECK(cuMemGetInfo(&free_bytes, &bytes));
  bytes /= 512;  // of all device memory: larger than the caches, small enough to be quick
  if (argc > 1 && std::strcmp(argv[1], "--latency") == 0) {
    measure_latency(module, one, bytes / 128 * 128);
    return 0;
  }
  cu::Memory in(bytes), out(bytes);
  CU_CHECK(cuMemsetD8(in.address, 1, bytes));

  std::printf("blocks of %d threads with  blocks that fit on a multiprocessor\n", kThreads);
  std::printf("     shared memory, bytes  computed  driver  counted     GB/s  latency, us\n");
  bool agreed = true;
  std::vector<std::string> rows;
  std::vector<double> speeds, latencies;
  for (int wanted = one.threads / kThreads; wanted >= 1; wanted /= 2) {
    const int shared_bytes = std::min(one.shared / wanted - one.reserved, one.shared_per_block) / 1024 * 1024;
    for (const CUfunction kernel : {count_residents, copy}) {
      CU_CHECK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_bytes));
    }
    int registers, driver;
    CU_CHECK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, copy));
    CU_CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&driver, copy, kThreads, shared_bytes));
    const int computed = one.computed(registers, shared_bytes);
    const int seen = counted(count_residents, one, driver, shared_bytes);
    speeds.push_back(bandwidth(copy, in, out, bytes, driver * one.count, shared_bytes));
    // Every resident thread has one load of 4 bytes in flight, and half of the bytes that the copy moves are loaded.
    latencies.push_back(4e-3 * driver * kThreads * one.count / (speeds.back() / 2));
    char row[100];
    std::snprintf(row, sizeof row, "%25d  %8d  %6d  %7d", shared_bytes, computed, driver, seen);
    rows.push_back(row);
    agreed = agreed && computed == driver && seen <= driver;
  }
  const double best = *std::max_element(speeds.begin(), speeds.end());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::printf("%s  %7.1f  %11.2f %s\n", rows[i].c_str(), speeds[i], latencies[i],
                cu::bar(speeds[i], best, kLongestBar).c_str());
  }

  int grid, block;
  CU_CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, copy, nullptr, 0, 0));
  std::printf("\nsuggested by the driver for copy: %d blocks of %d threads\n", grid, block);
  return agreed ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
