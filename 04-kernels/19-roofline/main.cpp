// Places kernels on the roofline of the device: arithmetic intensity, attainable speed, and measured speed. With
// --profile, it launches each kernel once and measures nothing, for use with a profiler.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

using u64 = unsigned long long;

struct Row {
  const char* kernel;
  int steps;          // multiply-adds per float
  int blocks_per_sm;  // 0: as many as the grid-stride loop can use
  int threads;        // per block
  const char* label;
};

constexpr Row kRows[] = {
    {"fma_1", 1, 0, 256, "fma_1"},
    {"fma_4", 4, 0, 256, "fma_4"},
    {"fma_16", 16, 0, 256, "fma_16"},
    {"fma_64", 64, 0, 256, "fma_64"},
    {"fma_256", 256, 0, 256, "fma_256"},
    {"fma_1024", 1024, 0, 256, "fma_1024"},
    {"fma_16_strided", 16, 0, 256, "fma_16, strided"},
    {"fma_16", 16, 1, 64, "fma_16, 2 warps per SM"},
    {"fma_1024", 1024, 1, 32, "fma_1024, 1 warp per SM"},
};

// What the host computes for the same input: multiply-adds with 0.5 and 1 move every value towards 2.
float expected(float value, int steps) {
  for (int step = 0; step < steps; ++step) value = std::fmaf(value, 0.5f, 1.0f);
  return value;
}

struct Experiment {
  cu::Module module{cu::image("kernels.ptx")};
  int multiprocessors;
  u64 count;  // floats, a multiple of 4096
  cu::Memory in, out;

  Experiment(int sms, u64 floats)
      : multiprocessors(sms), count(floats), in(floats * sizeof(float)), out(floats * sizeof(float)) {
    std::vector<float> values(count);
    for (u64 i = 0; i < count; ++i) values[i] = static_cast<float>(i % 4099);
    CU_CHECK(cuMemcpyHtoD(in.address, values.data(), count * sizeof(float)));
  }

  void launch(const Row& row) {
    u64 vectors = count / 4;
    void* arguments[] = {&in.address, &out.address, &vectors};
    const unsigned blocks = multiprocessors * (row.blocks_per_sm > 0 ? row.blocks_per_sm : 32);
    CU_CHECK(
        cuLaunchKernel(module.function(row.kernel), blocks, 1, 1, row.threads, 1, 1, 0, nullptr, arguments, nullptr));
  }

  // Compares every element with the host's result. Both use fused multiply-adds, so they are equal to the last bit.
  bool verify(const Row& row) {
    launch(row);
    std::vector<float> got(count), host(4099);
    CU_CHECK(cuMemcpyDtoH(got.data(), out.address, count * sizeof(float)));
    CU_CHECK(cuMemsetD8(out.address, 0, count * sizeof(float)));  // for the next kernel
    for (u64 i = 0; i < host.size(); ++i) host[i] = expected(static_cast<float>(i), row.steps);
    for (u64 i = 0; i < count; ++i) {
      if (got[i] != host[i % 4099]) return false;
    }
    return true;
  }
};

// Returns how many floats to use: enough to keep this device busy for a while, judged by a small run, because a launch
// takes some microseconds whatever the kernel does.
u64 count_for(int multiprocessors, std::size_t free_bytes) {
  u64 count = 1 << 17;
  Experiment small(multiprocessors, count);
  const double seconds = cu::median_device_seconds([&] { small.launch(kRows[3]); }, 3);
  const double speed = count / seconds;
  while (2 * count < speed * 0.016 && 2 * count * sizeof(float) < free_bytes / 16) count *= 2;
  return count;
}

int main(int argc, char** argv) try {
  const bool measure = argc < 2 || std::strcmp(argv[1], "--profile") != 0;
  cu::Primary context;
  cu::print_device(context.device);
  int multiprocessors;
  std::size_t free_bytes, total_bytes;
  CU_CHECK(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, context.device));
  CU_CHECK(cuMemGetInfo(&free_bytes, &total_bytes));
  const double bandwidth = cu::memory_limit(context.device);       // GB/s
  const double arithmetic = cu::arithmetic_limit(context.device);  // GFLOP/s
  const double ridge = arithmetic / bandwidth;                     // FLOP per byte
  Experiment experiment(multiprocessors, measure ? count_for(multiprocessors, free_bytes) : 1 << 20);
  std::printf("peak %.0f GB/s and %.0f GFLOP/s, ridge point at %.1f FLOP/byte, %.2f Mi floats\n\n", bandwidth,
              arithmetic, ridge, experiment.count / 1048576.0);

  std::printf("kernel                   FLOP/byte   time ms   GB/s   GFLOP/s  attainable  share\n");
  bool right = true;
  for (const Row& row : kRows) {
    if (!experiment.verify(row)) {
      std::printf("%-24s  WRONG: not timed\n", row.label);
      right = false;
      continue;
    }
    if (!measure) continue;
    const double bytes = 2.0 * sizeof(float) * experiment.count;
    const double flops = 2.0 * row.steps * experiment.count;
    const double seconds = cu::median_device_seconds([&] { experiment.launch(row); });
    const double intensity = flops / bytes;
    const double attainable = std::min(arithmetic, intensity * bandwidth);
    std::printf("%-24s  %8.2f  %8.3f  %5.0f  %8.1f  %10.1f  %5.3f\n", row.label, intensity, seconds * 1e3,
                bytes / seconds / 1e9, flops / seconds / 1e9, attainable, flops / seconds / 1e9 / attainable);
  }
  return right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
