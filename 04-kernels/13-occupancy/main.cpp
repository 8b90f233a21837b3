// How many blocks fit on a multiprocessor: worked out, asked of the driver, counted; and what it does to a copy's
// speed.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"

#include <algorithm>
#include <string>
#include <vector>

constexpr int kThreads = 256;    // a block
constexpr int kLongestBar = 24;  // characters

// What one multiprocessor has, as the driver says.
struct Multiprocessor {
  int count, threads, blocks, registers, shared, shared_a_block, reserved;

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
    shared_a_block = ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    reserved = ask(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  }

  // The scarcest thing decides. Registers are handed out to warps, 256 at a time.
  int worked_out(int registers_a_thread, int shared_bytes) const {
    const int registers_a_warp = (registers_a_thread * 32 + 255) / 256 * 256;
    const int by_registers = registers / (registers_a_warp * (kThreads / 32));
    return std::min({threads / kThreads, blocks, by_registers, shared / (shared_bytes + reserved)});
  }
};

// The most blocks that were on one multiprocessor at the same time, in a grid that just fills the device.
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

// In GB/s, read and written.
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

int main() try {
  cu::Context context;
  cu::Module module(cu::image("kernels.ptx"));
  const CUfunction count_residents = module.function("count_residents"), copy = module.function("copy");
  const Multiprocessor one(context.device);
  cu::print_device(context.device);
  std::printf("%d multiprocessors, each: %d threads, %d blocks, %d registers, %d bytes of shared memory\n\n", one.count,
              one.threads, one.blocks, one.registers, one.shared);

  std::size_t free_bytes, bytes;
  CU_CHECK(cuMemGetInfo(&free_bytes, &bytes));
  bytes /= 512;  // of the whole memory: more than the caches hold, and little enough to be quick
  cu::Memory in(bytes), out(bytes);
  CU_CHECK(cuMemsetD8(in.address, 1, bytes));

  std::printf("blocks of %d threads with  blocks that fit on a multiprocessor\n", kThreads);
  std::printf("     shared memory, bytes  worked out  the driver  seen     GB/s\n");
  bool agreed = true;
  std::vector<std::string> rows;
  std::vector<double> speeds;
  for (int wanted = one.threads / kThreads; wanted >= 1; wanted /= 2) {
    const int shared_bytes = std::min(one.shared / wanted - one.reserved, one.shared_a_block) / 1024 * 1024;
    for (const CUfunction kernel : {count_residents, copy}) {
      CU_CHECK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_bytes));
    }
    int registers, driver;
    CU_CHECK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, copy));
    CU_CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&driver, copy, kThreads, shared_bytes));
    const int worked_out = one.worked_out(registers, shared_bytes);
    const int seen = counted(count_residents, one, driver, shared_bytes);
    speeds.push_back(bandwidth(copy, in, out, bytes, driver * one.count, shared_bytes));
    char row[100];
    std::snprintf(row, sizeof row, "%25d  %10d  %10d  %4d", shared_bytes, worked_out, driver, seen);
    rows.push_back(row);
    agreed = agreed && worked_out == driver && seen <= driver;
  }
  const double best = *std::max_element(speeds.begin(), speeds.end());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::printf("%s  %7.1f %s\n", rows[i].c_str(), speeds[i], cu::bar(speeds[i], best, kLongestBar).c_str());
  }

  int grid, block;
  CU_CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, copy, nullptr, 0, 0));
  std::printf("\nthe driver's advice for copy: blocks of %d threads, %d of them\n", block, grid);
  return agreed ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
