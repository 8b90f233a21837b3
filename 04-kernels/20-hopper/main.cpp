// A ladder: seven ways to feed the tensor cores of compute capability 9.0, each checked, then timed, beside cuBLAS.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "library.hpp"
#include "matrices.hpp"
#include "product.hpp"

#include <algorithm>
#include <functional>

struct Rung {
  const char *name, *kernel, *idea;
  int groups;          // of 128 threads that multiply, 64 rows of c each
  int threads;         // of a block
  bool stores, stays;  // by way of shared memory; for all tiles, not for one
  int cluster;         // blocks
};

constexpr Rung kLadder[] = {
    {"warpgroup", "warpgroup", "wgmma; threads fetch", 1, 128, false, false, 1},
    {"copies", "copies", "the copy engine fetches", 1, 128, false, false, 1},
    {"ring", "ring", "four stages, filled ahead", 1, 256, false, false, 1},
    {"pair", "pair", "two warpgroups share b", 2, 384, false, false, 1},
    {"persistent", "pair", "a block for all its tiles", 2, 384, false, true, 1},
    {"stored", "stored", "the copy engine stores", 2, 384, true, true, 1},
    {"cluster", "cluster", "two blocks share b", 2, 384, true, true, 2},
};

int attribute(CUdevice_attribute which) {
  CUdevice device;
  int value;
  CU_CHECK(cuCtxGetDevice(&device));
  CU_CHECK(cuDeviceGetAttribute(&value, which, device));
  return value;
}

// How the copy engine finds boxes of 64 × 64 in n rows of n numbers, and how it lays them into shared memory.
CUtensorMap map_of(CUdeviceptr matrix, int n) {
  CUtensorMap map;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(n), static_cast<cuuint64_t>(n)};  // columns first
  const cuuint64_t to_next_row[] = {sizes[0] * sizeof(std::uint16_t)};                  // in bytes
  const cuuint32_t box[] = {kBox, kBox}, every[] = {1, 1};
  CU_CHECK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, reinterpret_cast<void*>(matrix), sizes,
                                  to_next_row, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                  CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

Product product_of(const Matrices& m) {
  const auto pointer = [](const cu::Memory& memory) { return reinterpret_cast<void*>(memory.address); };
  return {map_of(m.a.address, m.n),
          map_of(m.b.address, m.n),
          map_of(m.c.address, m.n),
          pointer(m.a),
          pointer(m.b),
          pointer(m.c),
          m.n};
}

void launch(const cu::Module& module, const Rung& rung, const Product& product) {
  const CUfunction kernel = module.function(rung.kernel);
  const unsigned across = product.n / kColumns, down = product.n / (rung.groups * kBox);
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim.x = rung.cluster;
  cluster.value.clusterDim.y = cluster.value.clusterDim.z = 1;
  CUlaunchConfig config{};
  config.gridDimX = across * down;
  if (rung.stays) {
    const unsigned fit = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) / rung.cluster * rung.cluster;
    config.gridDimX = std::min(config.gridDimX, fit);
  }
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = rung.threads;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = shared_bytes(rung.groups, rung.stores);
  config.attrs = &cluster;
  config.numAttrs = 1;
  CU_CHECK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, config.sharedMemBytes));
  void* arguments[] = {const_cast<Product*>(&product)};  // the driver copies it
  CU_CHECK(cuLaunchKernelEx(&config, kernel, arguments, nullptr));
}

// In seconds: the median of 31 runs; of fewer, but at least three, if they take longer than a tenth of a second.
double seconds(const std::function<void()>& work) {
  const double once = cu::median_device_seconds(work, 1);
  return cu::median_device_seconds(work, static_cast<int>(std::clamp(0.1 / once, 3.0, 31.0)));
}

// A power of two, up to 4096, that the second kernel needs no more than a fifth of a second for, judged by a small one.
int side_for(const cu::Module& module) {
  const Matrices small(256);
  const Product product = product_of(small);
  double time = cu::median_device_seconds([&] { launch(module, kLadder[1], product); }, 1);
  int n = 256;
  for (; n < 4096 && 8 * time < 0.2; time *= 8) n *= 2;
  return n;
}

// Checks, then measures: operations a second, or 0 if it is wrong.
double climb(const Matrices& matrices, const std::function<void()>& work) {
  work();
  const double n = matrices.n;
  return matrices.right() ? 2 * n * n * n / seconds(work) : 0;
}

// Speeds in operations a second; cuBLAS's is 0 where there is none.
void print(const char* name, const char* idea, double speed, double limit, double cublas) {
  if (speed == 0) {
    std::printf("%-11s %-26s WRONG: not timed\n", name, idea);
    return;
  }
  char of_cublas[8] = "-";
  if (cublas > 0) std::snprintf(of_cublas, sizeof of_cublas, "%.2f", speed / cublas);
  std::printf("%-11s %-26s %9.1f  %12.2f  %9s\n", name, idea, speed / 1e9, speed / limit, of_cublas);
}

int main() try {
  cu::Context context;
  const int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  if (major != 9 || minor != 0) {
    std::printf("skipped: wgmma needs compute capability 9.0, and this device has %d.%d\n", major, minor);
    return 77;
  }
  cu::Module module(cu::image("kernels.ptx"));
  char name[100];
  CU_CHECK(cuDeviceGetName(name, sizeof name, context.device));
  // 2048 multiply-adds a cycle, on a multiprocessor of 9.0.
  const double limit = 2.0 * 2048 * attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) *
                       attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) * 1e3;
  const Matrices matrices(side_for(module));
  const Product p = product_of(matrices);
  const Cublas cublas;
  const auto library = [&] { cublas.multiply(p.a, p.b, p.c, p.n); };
  std::printf("%s, %d x %d bfloat16; at most %.0f GFLOP/s with tensor cores\n\n", name, p.n, p.n, limit / 1e9);
  // The yardstick is measured before the ladder and behind it, and the better figure counts: the clock has to wake up.
  double best = cublas ? climb(matrices, library) : 0;
  std::vector<double> speeds;
  for (const Rung& rung : kLadder) speeds.push_back(climb(matrices, [&] { launch(module, rung, p); }));
  if (cublas) best = std::max(best, climb(matrices, library));
  std::printf("kernel      idea                         GFLOP/s  of the limit  of cuBLAS\n");
  for (std::size_t i = 0; i < speeds.size(); ++i) print(kLadder[i].name, kLadder[i].idea, speeds[i], limit, best);
  if (cublas) print("(cuBLAS)", "for comparison", best, limit, best), speeds.push_back(best);
  return *std::min_element(speeds.begin(), speeds.end()) > 0 ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
