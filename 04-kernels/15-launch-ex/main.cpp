// Launches with attributes: a grid with a barrier, clusters that share their shared memory, and kernels that overlap.
#include "bins.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

constexpr unsigned kThreads = 256;

int attribute(CUdevice device, CUdevice_attribute which) {
  int value;
  CU_CHECK(cuDeviceGetAttribute(&value, which, device));
  return value;
}

// Launches a one-dimensional grid in the default stream, with one attribute.
CUresult launch(CUfunction kernel, unsigned blocks, unsigned threads, CUlaunchAttribute attribute, void** arguments) {
  CUlaunchConfig config{};
  config.gridDimX = blocks;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = threads;
  config.blockDimY = config.blockDimZ = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cuLaunchKernelEx(&config, kernel, arguments, nullptr);
}

CUlaunchAttribute cooperative() {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  return attribute;
}

CUlaunchAttribute clusters_of(unsigned blocks) {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim.x = blocks;
  attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
  return attribute;
}

CUlaunchAttribute programmatic(bool allowed) {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = allowed;
  return attribute;
}

// Normalizes an array with as many blocks as fit, and tries to launch one block more. Returns whether both results are
// as expected.
bool whole_grid(CUdevice device) {
  cu::Module module(cu::image("kernels.ptx"));
  const CUfunction normalize = module.function("normalize");
  int fit;
  CU_CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, normalize, kThreads, 0));
  const unsigned most = fit * attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);

  int n = 100000;
  std::vector<float> numbers(n);
  for (int i = 0; i < n; ++i) numbers[i] = static_cast<float>(i % 100 + 1);
  cu::Memory memory(n * sizeof(float)), sum(sizeof(float));
  CU_CHECK(cuMemcpyHtoD(memory.address, numbers.data(), n * sizeof(float)));
  CU_CHECK(cuMemsetD32(sum.address, 0, 1));
  void* arguments[] = {&memory.address, &sum.address, &n};
  CU_CHECK(launch(normalize, most, kThreads, cooperative(), arguments));
  CU_CHECK(cuMemcpyDtoH(numbers.data(), memory.address, n * sizeof(float)));
  double all = 0;
  for (const float number : numbers) all += number;
  const double with_barrier =
      cu::median_device_seconds([&] { CU_CHECK(launch(normalize, most, kThreads, cooperative(), arguments)); });
  const double with_two = cu::median_device_seconds([&] {
    for (const char* kernel : {"add_up", "divide"}) {
      CU_CHECK(cuLaunchKernel(module.function(kernel), most, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr));
    }
  });
  const CUresult one_more = launch(normalize, most + 1, kThreads, cooperative(), arguments);
  std::printf("cooperative, all blocks that fit   the sum is %.3f\n", all);
  std::printf("cooperative, one block more        %s\n", cu::name(one_more));
  std::printf("one kernel with a barrier          %5.1f us\n", with_barrier * 1e6);
  std::printf("two kernels                        %5.1f us\n", with_two * 1e6);
  return std::fabs(all - 1) < 1e-3 && one_more == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

// Launches eight blocks in clusters of four, and then nine blocks, which is not a multiple of four.
bool clusters(const cu::Module& module) {
  const CUfunction neighbors = module.function("neighbors");
  constexpr int kBlocks = 8;
  std::vector<int> seen(3 * kBlocks);
  cu::Memory memory(3 * (kBlocks + 1) * sizeof(int));
  void* arguments[] = {&memory.address};
  CU_CHECK(launch(neighbors, kBlocks, 32, clusters_of(4), arguments));
  CU_CHECK(cuMemcpyDtoH(seen.data(), memory.address, seen.size() * sizeof(int)));
  bool right = true;
  std::printf("\nblock  rank in its cluster  value of the next block\n");
  for (int block = 0; block < kBlocks; ++block) {
    const int *row = &seen[3 * block], next = block / 4 * 4 + (block + 1) % 4;
    std::printf("%5d  %9d of %d       %d\n", block, row[0], row[1], row[2]);
    right = right && row[0] == block % 4 && row[1] == 4 && row[2] == 100 + next;
  }
  const CUresult nine = launch(neighbors, kBlocks + 1, 32, clusters_of(4), arguments);
  std::printf("\n9 blocks in clusters of 4          %s\n", cu::name(nine));
  return right && nine == CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

// Counts values in bins that are distributed over the shared memory of a cluster, and then in global memory. Compares
// every bin with the host's.
bool histograms(const cu::Module& module, const char* kind, const std::vector<std::uint16_t>& values) {
  int n = static_cast<int>(values.size());
  std::vector<unsigned> expected(kBins), counted(kBins);
  for (const std::uint16_t value : values) ++expected[value];
  cu::Memory input(n * sizeof values[0]), bins(kBins * sizeof(unsigned));
  CU_CHECK(cuMemcpyHtoD(input.address, values.data(), n * sizeof values[0]));
  void* arguments[] = {&input.address, &bins.address, &n};
  bool right = true;
  const auto microseconds = [&](const char* name, unsigned cluster) {
    const CUfunction kernel = module.function(name);
    const auto work = [&] {
      CU_CHECK(cuMemsetD32Async(bins.address, 0, kBins, nullptr));
      CU_CHECK(launch(kernel, 16 * kClusterSize, 1024, clusters_of(cluster), arguments));
    };
    work();
    CU_CHECK(cuMemcpyDtoH(counted.data(), bins.address, kBins * sizeof(unsigned)));
    right = right && counted == expected;
    return cu::median_device_seconds(work) * 1e6;
  };
  const double distributed = microseconds("histogram", kClusterSize), global = microseconds("global_histogram", 1);
  std::printf("histogram of %-6s values         %s, %7.1f us in a cluster's memory, %7.1f us in global memory\n", kind,
              right ? "right" : "WRONG", distributed, global);
  return right;
}

// Measures a chain of kernels with and without programmatic dependent launch. Returns whether every kernel has run in
// order: each adds 1.
bool chain(const cu::Module& module, bool overlap) {
  constexpr int kKernels = 64;
  const CUfunction step = module.function("step");
  cu::Memory memory(32 * sizeof(float));
  CU_CHECK(cuMemsetD32(memory.address, 0, 32));
  void* arguments[] = {&memory.address};
  int runs = 0;
  const double seconds = cu::median_device_seconds([&] {
    for (int i = 0; i < kKernels; ++i) CU_CHECK(launch(step, 1, 32, programmatic(overlap), arguments));
    ++runs;
  });
  std::vector<float> values(32);
  CU_CHECK(cuMemcpyDtoH(values.data(), memory.address, 32 * sizeof(float)));
  std::printf("%-34s %5.1f us per kernel\n", overlap ? "chain, programmatic launch" : "chain, ordinary launch",
              seconds * 1e6 / kKernels);
  return values == std::vector<float>(32, static_cast<float>(runs * kKernels));
}

int main() try {
  cu::Primary context;
  const bool grid = whole_grid(context.device);
  if (attribute(context.device, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) == 0) {
    std::printf("\nskipped: clusters and programmatic launches need compute capability 9.0\n");
    return grid ? 0 : 1;
  }
  cu::Module module(cu::image("clusters.ptx"));
  std::vector<std::uint16_t> values(1 << 20);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint16_t>(i * 2654435761u >> 16);
  bool right = clusters(module);
  std::printf("\n");
  right = histograms(module, "random", values) && right;
  right = histograms(module, "equal", std::vector<std::uint16_t>(values.size(), 7)) && right;
  std::printf("\n");
  right = chain(module, false) && right;
  right = chain(module, true) && right;
  return grid && right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
