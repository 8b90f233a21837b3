// Launches with attributes: a grid whose blocks wait for each other, and blocks that share their shared memory.
#include "common/cu.hpp"
#include "common/image.hpp"

#include <cmath>
#include <vector>

constexpr unsigned kThreads = 256;

int attribute(CUdevice device, CUdevice_attribute which) {
  int value;
  CU_CHECK(cuDeviceGetAttribute(&value, which, device));
  return value;
}

// A launch in one dimension in the default stream, with one attribute.
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

// Normalises 1 2 3 … with as many blocks as fit, and tries one more. True if all is as it should be.
bool whole_grid(CUdevice device) {
  cu::Module module(cu::image("kernels.ptx"));
  const CUfunction normalise = module.function("normalise");
  int fit;
  CU_CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, normalise, kThreads, 0));
  const unsigned most = fit * attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);

  int n = 100000;
  std::vector<float> numbers(n);
  for (int i = 0; i < n; ++i) numbers[i] = static_cast<float>(i % 100 + 1);
  cu::Memory memory(n * sizeof(float)), sum(sizeof(float));
  CU_CHECK(cuMemcpyHtoD(memory.address, numbers.data(), n * sizeof(float)));
  CU_CHECK(cuMemsetD32(sum.address, 0, 1));
  void* arguments[] = {&memory.address, &sum.address, &n};
  CU_CHECK(launch(normalise, most, kThreads, cooperative(), arguments));
  CU_CHECK(cuMemcpyDtoH(numbers.data(), memory.address, n * sizeof(float)));
  double all = 0;
  for (const float number : numbers) all += number;
  const CUresult one_more = launch(normalise, most + 1, kThreads, cooperative(), arguments);
  std::printf("cooperative, all the blocks that fit   the numbers add up to %.3f\n", all);
  std::printf("cooperative, one block more            %s\n", cu::name(one_more));
  return std::fabs(all - 1) < 1e-3 && one_more == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

// Eight blocks in clusters of four; then nine, which is no multiple of four.
bool clusters() {
  cu::Module module(cu::image("clusters.ptx"));
  const CUfunction neighbours = module.function("neighbours");
  constexpr int kBlocks = 8;
  std::vector<int> seen(3 * kBlocks);
  cu::Memory memory(3 * (kBlocks + 1) * sizeof(int));
  void* arguments[] = {&memory.address};
  CU_CHECK(launch(neighbours, kBlocks, 32, clusters_of(4), arguments));
  CU_CHECK(cuMemcpyDtoH(seen.data(), memory.address, seen.size() * sizeof(int)));
  bool right = true;
  std::printf("\nblock  place in its cluster  reads on the next one's blackboard\n");
  for (int block = 0; block < kBlocks; ++block) {
    const int *row = &seen[3 * block], next = block / 4 * 4 + (block + 1) % 4;
    std::printf("%5d  %10d of %d       %d\n", block, row[0], row[1], row[2]);
    right = right && row[0] == block % 4 && row[1] == 4 && row[2] == 100 + next;
  }
  const CUresult nine = launch(neighbours, kBlocks + 1, 32, clusters_of(4), arguments);
  std::printf("\n9 blocks in clusters of 4              %s\n", cu::name(nine));
  return right && nine == CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

int main() try {
  cu::Context context;
  const bool grid = whole_grid(context.device);
  if (attribute(context.device, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) == 0) {
    std::printf("\nskipped: clusters need compute capability 9.0\n");
    return grid ? 0 : 1;
  }
  return grid && clusters() ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
