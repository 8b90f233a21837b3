// Checks the learner's launch_all() and launch_clusters() (exercise of 04-kernels/15-launch-ex).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <array>

CUresult launch_all(CUfunction kernel, unsigned threads, unsigned shared_bytes, void** arguments);
CUresult launch_clusters(CUfunction kernel, unsigned threads, unsigned cluster, bool early, void** arguments);

namespace {

bool small = false;  // if set, the device has three multiprocessors

// What the last call to cuLaunchKernelEx requested.
struct Launched {
  unsigned blocks, cluster;
  bool early;
} launched;

struct Meeting {
  cu::Context context;
  cu::Module module{cu::image("check.ptx")};
  CUfunction count_blocks = module.function("count_blocks");
  CUresult result = CUDA_ERROR_UNKNOWN;

  // Blocks that ran, blocks that saw all others after the barrier, threads per block, bytes of shared memory.
  std::array<unsigned, 4> launch(unsigned threads, unsigned shared_bytes) {
    cu::Memory counts(4 * sizeof(unsigned));
    CU_CHECK(cuMemsetD32(counts.address, 0, 4));
    void* arguments[] = {&counts.address};
    result = launch_all(count_blocks, threads, shared_bytes, arguments);
    std::array<unsigned, 4> found;
    CU_CHECK(cuMemcpyDtoH(found.data(), counts.address, sizeof found));
    return found;
  }

  // The number of blocks that ran.
  unsigned launch_in_clusters(unsigned threads, unsigned cluster, bool early) {
    cu::Memory count(sizeof(unsigned));
    CU_CHECK(cuMemsetD32(count.address, 0, 1));
    void* arguments[] = {&count.address};
    launched = {};
    result = launch_clusters(module.function("count_only"), threads, cluster, early, arguments);
    unsigned found;
    CU_CHECK(cuMemcpyDtoH(&found, count.address, sizeof found));
    return found;
  }

  // How many blocks run at the same time in clusters of this size; 0 if the device has no clusters.
  unsigned blocks_in_clusters(unsigned threads, unsigned cluster) {
    int has_clusters, fit;
    CU_CHECK(cuDeviceGetAttribute(&has_clusters, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, context.device));
    if (has_clusters == 0) return 0;
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = cluster;
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    CUlaunchConfig config{};
    config.gridDimX = cluster, config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = threads, config.blockDimY = config.blockDimZ = 1;
    config.attrs = &attribute, config.numAttrs = 1;
    CU_CHECK(cuOccupancyMaxActiveClusters(&fit, module.function("count_only"), &config));
    return fit * cluster;
  }

  unsigned that_fit(int threads, int shared_bytes) {
    int multiprocessors, fit;
    CU_CHECK(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, context.device));
    CU_CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, count_blocks, threads, shared_bytes));
    return fit * multiprocessors;
  }
};

}  // namespace

MAY_BE_REFUSED(cuCtxGetDevice, (CUdevice * device), (device))

// The solution's calls come through these functions.
CUresult CUDAAPI cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  if (Refusal::meets("cuDeviceGetAttribute")) return kRefused;
  const CUresult result = DRIVERS(cuDeviceGetAttribute)(value, attribute, device);
  if (result == CUDA_SUCCESS && small && attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) *value = 3;
  return result;
}

MAY_BE_REFUSED(cuOccupancyMaxActiveBlocksPerMultiprocessor,
               (int* blocks, CUfunction kernel, int threads, std::size_t shared_bytes),
               (blocks, kernel, threads, shared_bytes))
MAY_BE_REFUSED(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
               (int* blocks, CUfunction kernel, int threads, std::size_t shared_bytes, unsigned flags),
               (blocks, kernel, threads, shared_bytes, flags))
MAY_BE_REFUSED(cuLaunchCooperativeKernel,
               (CUfunction kernel, unsigned int blocks_x, unsigned int blocks_y, unsigned int blocks_z,
                unsigned int threads_x, unsigned int threads_y, unsigned int threads_z, unsigned int shared_bytes,
                CUstream stream, void** arguments),
               (kernel, blocks_x, blocks_y, blocks_z, threads_x, threads_y, threads_z, shared_bytes, stream, arguments))
MAY_BE_REFUSED(cuOccupancyMaxActiveClusters, (int* clusters, CUfunction kernel, const CUlaunchConfig* config),
               (clusters, kernel, config))

CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction kernel, void** arguments, void** extra) {
  if (Refusal::meets("cuLaunchKernelEx")) return kRefused;
  launched = {config->gridDimX, 1, false};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute& one = config->attrs[i];
    if (one.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) launched.cluster = one.value.clusterDim.x;
    if (one.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) {
      launched.early = one.value.programmaticStreamSerializationAllowed != 0;
    }
  }
  return DRIVERS(cuLaunchKernelEx)(config, kernel, arguments, extra);
}

TEST_CASE_METHOD(Meeting, "all blocks of the grid reach the barrier") {
  const auto found = launch(256, 0);
  CHECK(result == CUDA_SUCCESS);
  CHECK(found[0] > 0);
  CHECK(found[1] == found[0]);
  CHECK(found[2] == 256);
}

TEST_CASE_METHOD(Meeting, "as many blocks as fit are launched") {
  CHECK(launch(256, 0)[0] == that_fit(256, 0));
  CHECK(launch(1024, 0)[0] == that_fit(1024, 0));
}

TEST_CASE_METHOD(Meeting, "the number of multiprocessors comes from the device") {
  small = true;
  const auto found = launch(256, 0);
  const unsigned fit = that_fit(256, 0);
  small = false;
  CHECK(result == CUDA_SUCCESS);
  CHECK(found[0] == fit);
}

TEST_CASE_METHOD(Meeting, "fewer blocks fit if each uses a lot of shared memory") {
  const auto found = launch(64, 40000);
  CHECK(result == CUDA_SUCCESS);
  CHECK(found[0] == that_fit(64, 40000));
  CHECK(found[3] == 40000);
}

TEST_CASE_METHOD(Meeting, "an impossible block is rejected") {
  launch(1025, 0);
  CHECK(result != CUDA_SUCCESS);
  launch(64, 1 << 20);
  CHECK(result != CUDA_SUCCESS);
}

TEST_CASE_METHOD(Meeting, "every call is checked: the first failure is returned, and nothing is launched") {
  for (const char* call :
       {"cuCtxGetDevice", "cuDeviceGetAttribute", "cuOccupancyMaxActiveBlocksPerMultiprocessor",
        "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "cuLaunchKernelEx", "cuLaunchCooperativeKernel"}) {
    const Refusal refusal(call);
    const auto found = launch(256, 0);
    INFO(refusal.message() << ", launch_all returned " << cu::name(result) << ", " << found[0] << " blocks ran");
    if (!refusal.met()) continue;
    CHECK(result == kRefused);
    CHECK(found[0] == 0);
  }
}

#define NEEDS_CLUSTERS() \
  if (blocks_in_clusters(32, 2) == 0) SKIP_TEST("clusters need compute capability 9.0")

TEST_CASE_METHOD(Meeting, "as many clusters as run at the same time are launched") {
  NEEDS_CLUSTERS();
  for (const unsigned cluster : {2, 4, 8}) {
    CAPTURE(cluster);
    const unsigned found = launch_in_clusters(256, cluster, false);
    CHECK(result == CUDA_SUCCESS);
    CHECK(found == blocks_in_clusters(256, cluster));
  }
}

TEST_CASE_METHOD(Meeting, "the blocks are launched in clusters of the given size") {
  NEEDS_CLUSTERS();
  REQUIRE(launch_in_clusters(256, 4, false) > 0);
  CHECK(launched.cluster == 4);
  REQUIRE(launch_in_clusters(256, 8, true) > 0);
  CHECK(launched.cluster == 8);
}

TEST_CASE_METHOD(Meeting, "a kernel may start early only if that was requested") {
  NEEDS_CLUSTERS();
  for (const bool early : {false, true}) {
    CAPTURE(early);
    REQUIRE(launch_in_clusters(256, 2, early) > 0);
    CHECK(launched.early == early);
  }
}

TEST_CASE_METHOD(Meeting, "with clusters, too, the first failure is returned, and nothing is launched") {
  NEEDS_CLUSTERS();
  for (const char* call : {"cuOccupancyMaxActiveClusters", "cuLaunchKernelEx"}) {
    const Refusal refusal(call);
    const unsigned found = launch_in_clusters(256, 2, true);
    INFO(refusal.message() << ", launch_clusters returned " << cu::name(result) << ", " << found << " blocks ran");
    if (!refusal.met()) continue;
    CHECK(result == kRefused);
    CHECK(found == 0);
  }
}
