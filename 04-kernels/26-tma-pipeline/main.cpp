// Adds up the columns of a matrix of floats in several ways that differ in how the elements are loaded. Each kernel is
// verified, then timed.
//   --profile  launches each kernel once, for a profiler
#include "04-kernels/sustained.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "shape.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

constexpr int kLongestBar = 24;      // characters
constexpr int kSmallest = 1024;      // rows and columns of the matrix, at least,
constexpr int kLargest = 16384;      // and at most
constexpr int kThreadsOfAll = 2048;  // that a multiprocessor runs at the same time
constexpr double kBudget = 0.3;      // seconds of measurement per kernel

struct Rung {
  const char *name, *kernel, *idea;
  int stages;   // boxes that are loaded ahead, or being added up; 0: the threads load into registers
  int threads;  // per block
  bool fills;   // with blocks: as many as fit, and not one block per multiprocessor
};

constexpr Rung kLadder[] = {
    {"many_blocks", "threads", "threads load, 16 blocks", 0, kThreads, true},
    {"threads", "threads", "threads load, one block", 0, kThreads, false},
    {"tma", "tma", "one thread issues TMA loads", 1, kThreads, false},
    {"two_stages", "two_stages", "the next box is loaded ahead", 2, kThreads, false},
    {"multistage", "multistage", "eight stages", 8, kThreads, false},
    {"specialized", "specialized", "a producer and four consumers", 8, kThreads + kProducerThreads, false},
};

constexpr Rung kStages[] = {
    {"1", "stages_1", "", 1, kThreads + kProducerThreads, false},
    {"2", "stages_2", "", 2, kThreads + kProducerThreads, false},
    {"4", "stages_4", "", 4, kThreads + kProducerThreads, false},
    {"8", "specialized", "", 8, kThreads + kProducerThreads, false},
    {"16", "stages_16", "", 16, kThreads + kProducerThreads, false},
};

// Describes a matrix of n × n floats for the TMA: where its rows are, and the box that one load copies.
CUtensorMap map_of(CUdeviceptr matrix, int n) {
  CUtensorMap map;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(n), static_cast<cuuint64_t>(n)};  // columns first
  const cuuint64_t pitch[] = {n * sizeof(float)};                                       // bytes from row to row
  const cuuint32_t box[] = {kBoxColumns, kBoxRows}, strides[] = {1, 1};
  CU_CHECK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, reinterpret_cast<void*>(matrix), sizes,
                                  pitch, box, strides, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                  CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

// A matrix of small integers, so that all sums are exact, and the sums of its columns.
class Matrix {
 public:
  Matrix(const cu::Module& module, int multiprocessors, int n)
      : module_(module), multiprocessors_(multiprocessors), n_(n) {
    std::vector<float> row(n);
    for (int i = 0; i < n; ++i) row[i] = static_cast<float>(i * 2654435761u % 32768 % 101);
    // The second row is the first one, rotated by one element, and so on.
    std::vector<float> twice(row);
    twice.insert(twice.end(), row.begin(), row.end());
    expected_.resize(n);
    for (int y = 0; y < n; ++y) {
      const float* const from = twice.data() + y % n;
      CU_CHECK(cuMemcpyHtoD(elements_.address + y * n * sizeof(float), from, n * sizeof(float)));
      for (int x = 0; x < n; ++x) expected_[x] += from[x];
    }
  }

  std::size_t bytes() const { return std::size_t(n_) * n_ * sizeof(float); }

  void launch(const Rung& rung) {
    struct {
      CUdeviceptr elements;
      int rows, columns;
    } matrix{elements_.address, n_, n_};
    void* with_map[] = {&map_, &matrix, &sums_.address};
    void** const arguments = rung.stages == 0 ? with_map + 1 : with_map;
    const CUfunction kernel = module_.function(rung.kernel);
    const int blocks = multiprocessors_ * (rung.fills ? kThreadsOfAll / rung.threads : 1);
    CU_CHECK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kSharedBytes));
    CU_CHECK(cuLaunchKernel(kernel, blocks, 1, 1, rung.threads, 1, 1, rung.fills ? 0 : kSharedBytes, nullptr, arguments,
                            nullptr));
  }

  bool right(const Rung& rung) {
    CU_CHECK(cuMemsetD8(sums_.address, 0, n_ * sizeof(float)));
    launch(rung);
    std::vector<float> sums(n_);
    CU_CHECK(cuMemcpyDtoH(sums.data(), sums_.address, n_ * sizeof(float)));
    return sums == expected_;
  }

  double gigabytes_per_second(const Rung& rung) {
    return static_cast<double>(bytes()) / sustained_seconds([&] { launch(rung); }, kBudget) / 1e9;
  }

 private:
  const cu::Module& module_;
  int multiprocessors_, n_;
  cu::Memory elements_{bytes()}, sums_{n_ * sizeof(float)};
  std::vector<float> expected_;
  CUtensorMap map_ = map_of(elements_.address, n_);
};

int attribute(CUdevice device, CUdevice_attribute which) {
  int value;
  CU_CHECK(cuDeviceGetAttribute(&value, which, device));
  return value;
}

// Returns the side of a matrix that takes a kernel at least a tenth of a millisecond on this device.
int side(const cu::Module& module, int multiprocessors) {
  for (int n = kSmallest;; n *= 2) {
    if (n == kLargest) return n;
    Matrix trial(module, multiprocessors, n);
    if (cu::median_device_seconds([&] { trial.launch(kLadder[0]); }, 1) > 1e-4) return n;
  }
}

int main(int argc, char** argv) try {
  cu::Primary context;
  if (const int major = attribute(context.device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR); major < 9) {
    std::printf("skipped: the TMA needs compute capability 9.0, and this device has %d\n", major);
    return 77;
  }
  const int multiprocessors = attribute(context.device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  const cu::Module module(cu::image("kernels.ptx"));
  const int n = side(module, multiprocessors);
  Matrix matrix(module, multiprocessors, n);
  if (argc > 1 && std::strcmp(argv[1], "--profile") == 0) {
    for (const Rung& rung : kLadder) matrix.launch(rung);
    for (const Rung& rung : kStages) matrix.launch(rung);
    CU_CHECK(cuCtxSynchronize());
    return 0;
  }
  const double peak = cu::memory_limit(context.device);
  char name[100];
  CU_CHECK(cuDeviceGetName(name, sizeof name, context.device));
  std::printf("%s, %d x %d floats; peak %.0f GB/s\n\n", name, n, n, peak);
  bool all_right = true;
  const auto measure = [&](const Rung& rung) {
    const bool right = matrix.right(rung);
    all_right &= right;
    if (!right) return std::printf("  WRONG: not timed\n"), void();
    const double speed = matrix.gigabytes_per_second(rung);
    std::printf("  %7.1f  %4.2f %s\n", speed, speed / peak, cu::bar(speed, peak, kLongestBar).c_str());
  };
  std::printf("kernel       what changed                      GB/s  of peak\n");
  for (const Rung& rung : kLadder) std::printf("%-12s %-29s", rung.name, rung.idea), measure(rung);
  std::printf("\nstages       KiB per multiprocessor            GB/s  of peak\n");
  for (const Rung& rung : kStages) std::printf("%-12s %-29d", rung.name, rung.stages * kBoxBytes >> 10), measure(rung);
  return all_right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
