// The instruction wgmma: the cycles that it takes, in several forms, and matrix products that use it. All results are
// verified before anything is timed.
//   --verify N   verifies each product for n = N
//   --profile N  launches each kernel once, for n = N, for a profiler
#include "04-kernels/matrices.hpp"
#include "04-kernels/sustained.hpp"
#include "04-kernels/tensor_map.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "shape.hpp"

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

constexpr int kLongestBar = 20;       // characters
constexpr int kLargest = 8192;        // the matrices of the second table have at most this side
constexpr double kBudget = 0.6;       // seconds of measurement per kernel
constexpr int kMultiplyAdds = 2048;   // of bfloat16, per cycle of a multiprocessor of compute capability 9.0

// ---- The instruction alone ----

struct Form {
  const char *name, *kernel, *a, *b;
  int n;
};
constexpr Form kForms[] = {
    {"m64n16k16", "n16", "shared memory", "K-major", 16},
    {"m64n64k16", "n64", "shared memory", "K-major", 64},
    {"m64n128k16", "n128", "shared memory", "K-major", 128},
    {"m64n256k16", "n256", "shared memory", "K-major", 256},
    {"m64n256k16", "n256_mn", "shared memory", "MN-major", 256},
    {"m64n16k16", "n16_registers", "registers", "K-major", 16},
    {"m64n64k16", "n64_registers", "registers", "K-major", 64},
    {"m64n256k16", "n256_registers", "registers", "K-major", 256},
};

// One block that repeats an instruction, on matrices whose elements are -1, 0 and 1, so that all sums are exact.
class Alone {
 public:
  explicit Alone(const cu::Module& module) : module_(module) {
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      elements_[i] = static_cast<float>(static_cast<int>(i * 2654435761u % 32768 % 3) - 1);
    }
    CU_CHECK(cuMemcpyHtoD(from_.address, elements_.data(), elements_.size() * sizeof(float)));
  }

  // Returns the cycles per instruction, or -1 if a sum is wrong.
  double cycles(const Form& form, int repeats) {
    const CUfunction kernel = module_.function(form.kernel);
    const int bytes = bytes_of_step(kWide);
    void* arguments[] = {&from_.address, &repeats, &sums_.address, &cycles_.address};
    CU_CHECK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes));
    CU_CHECK(cuMemsetD8(sums_.address, 0xff, kBox * kWide * sizeof(float)));
    CU_CHECK(cuLaunchKernel(kernel, 1, 1, 1, kGroup, 1, 1, bytes, nullptr, arguments, nullptr));
    long long cycles;
    CU_CHECK(cuMemcpyDtoH(&cycles, cycles_.address, sizeof cycles));
    return right(form.n, repeats) ? static_cast<double>(cycles) / (4.0 * repeats) : -1;
  }

 private:
  bool right(int n, int repeats) const {
    std::vector<float> sums(std::size_t{kBox} * n);
    CU_CHECK(cuMemcpyDtoH(sums.data(), sums_.address, sums.size() * sizeof(float)));
    for (int thread = 0; thread < kGroup; ++thread) {
      for (int i = 0; i < n / 2; ++i) {
        const int lane = thread % 32, row = thread / 32 * 16 + i / 2 % 2 * 8 + lane / 4;
        const int column = i / 4 * 8 + lane % 4 * 2 + i % 2;
        float sum = 0;
        for (int k = 0; k < kBox; ++k) sum += elements_[row * kBox + k] * elements_[(kBox + column) * kBox + k];
        if (sums[i * kGroup + thread] != sum * static_cast<float>(repeats)) return false;
      }
    }
    return true;
  }

  const cu::Module& module_;
  std::vector<float> elements_ = std::vector<float>((kBox + kWide) * kBox);  // of a, then of b
  cu::Memory from_{elements_.size() * sizeof(float)}, sums_{kBox * kWide * sizeof(float)};
  cu::Memory cycles_{sizeof(long long)};
};

// Returns whether all sums were right.
bool measure_forms(const cu::Module& module, int repeats) {
  Alone alone(module);
  bool all_right = true;
  std::printf("instruction  a in           b            cycles  busy\n");
  for (const Form& form : kForms) {
    const double cycles = alone.cycles(form, repeats);
    all_right &= cycles >= 0;
    std::printf("%-12s %-14s %-8s", form.name, form.a, form.b);
    if (cycles < 0) {
      std::printf("  WRONG\n");
    } else {
      const double busy = 64.0 * form.n * 16 / cycles / kMultiplyAdds;
      std::printf("  %9.1f  %4.2f %s\n", cycles, busy, cu::bar(busy, 1, kLongestBar).c_str());
    }
  }
  return all_right;
}

// ---- Products ----

struct Rung {
  const char *name, *idea;
  int columns;      // of a tile
  bool transposed;  // b is stored by columns
};
constexpr Rung kLadder[] = {
    {"narrow", "tiles of 64 x 64; threads load", kNarrow, false},
    {"wide", "tiles of 64 x 256", kWide, false},
    {"tma", "one thread issues TMA loads", kWide, false},
    {"k_major", "b is stored by columns", kWide, true},
};

class Ladder {
 public:
  Ladder(const cu::Module& module, int multiprocessors) : module_(module), multiprocessors_(multiprocessors) {}

  void launch(const Rung& rung, const Matrices& matrices) const {
    const int n = matrices.n(), bytes = bytes_of_step(rung.columns);
    const auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void*>(address); };
    Product product{map_of(matrices.a(), n, n), map_of(matrices.b(), n, n), pointer(matrices.a()),
                    pointer(matrices.b()),      pointer(matrices.c()),      n};
    void* arguments[] = {&product};  // the driver copies it
    const CUfunction kernel = module_.function(rung.name);
    CU_CHECK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes));
    CU_CHECK(
        cuLaunchKernel(kernel, n / kBox * (n / rung.columns), 1, 1, kGroup, 1, 1, bytes, nullptr, arguments, nullptr));
  }

  // Returns the side of matrices for which a kernel takes at least a millisecond on this device.
  int side() const {
    for (int n = kWide;; n *= 2) {
      if (n == kLargest) return n;
      Matrices trial(module_, n);
      if (cu::median_device_seconds([&] { launch(kLadder[2], trial); }, 1) > 1e-3) return n;
    }
  }

  unsigned wrong_elements(const Rung& rung, int n) const {
    Matrices matrices(module_, {n, n, n}, rung.transposed);
    unsigned wrong = 0;
    for (const Data data : {Data::kIntegers, Data::kNormals}) {
      matrices.fill(data);
      launch(rung, matrices);
      wrong += matrices.wrong();
    }
    return wrong;
  }

  // Returns whether all results were right.
  bool climb(int n) const {
    std::printf("\nkernel    what changed                    TFLOP/s    GHz  busy\n");
    bool all_right = true;
    for (const Rung& rung : kLadder) {
      const bool right = wrong_elements(rung, n) == 0;
      all_right &= right;
      std::printf("%-9s %-31s", rung.name, rung.idea);
      if (!right) {
        std::printf("  WRONG: not timed\n");
        continue;
      }
      Matrices matrices(module_, {n, n, n}, rung.transposed);
      matrices.fill(Data::kNormals);
      const auto [seconds, clock] = pace(module_, [&] { launch(rung, matrices); }, kBudget);
      const double speed = 2.0 * n * n * n / seconds / 1e12;
      const double busy = speed * 1e3 / (2.0 * kMultiplyAdds * multiprocessors_ * clock);
      std::printf("%#9.4g  %5.3f  %4.2f %s\n", speed, clock, busy, cu::bar(busy, 1, kLongestBar).c_str());
    }
    return all_right;
  }

  void profile(int n) const {
    for (const Rung& rung : kLadder) {
      Matrices matrices(module_, {n, n, n}, rung.transposed);
      matrices.fill(Data::kNormals);
      launch(rung, matrices);
    }
    CU_CHECK(cuCtxSynchronize());
  }

 private:
  const cu::Module& module_;
  int multiprocessors_;
};

int attribute(CUdevice device, CUdevice_attribute which) {
  int value;
  CU_CHECK(cuDeviceGetAttribute(&value, which, device));
  return value;
}

int main(int argc, char** argv) try {
  cu::Primary context;
  const int major = attribute(context.device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  const int minor = attribute(context.device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  if (major != 9 || minor != 0) {
    std::printf("skipped: wgmma needs compute capability 9.0, and this device has %d.%d\n", major, minor);
    return 77;
  }
  const cu::Module module(cu::image("kernels.ptx"));
  const Ladder ladder(module, attribute(context.device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  if (argc > 2 && std::strcmp(argv[1], "--verify") == 0) {
    unsigned wrong = 0;
    for (const Rung& rung : kLadder) wrong += ladder.wrong_elements(rung, std::atoi(argv[2]));
    std::printf("%u elements are wrong\n", wrong);
    return wrong == 0 ? 0 : 1;
  }
  if (argc > 2 && std::strcmp(argv[1], "--profile") == 0) {
    ladder.profile(std::atoi(argv[2]));
    return 0;
  }
  const int n = ladder.side();
  char name[100];
  CU_CHECK(cuDeviceGetName(name, sizeof name, context.device));
  std::printf("%s, %d x %d bfloat16, random normals\n\n", name, n, n);
  const bool right = measure_forms(module, n == kLargest ? 2000 : 10);
  return ladder.climb(n) && right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
