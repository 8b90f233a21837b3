// Products of elements of 8 bits, one idea after the other. Each kernel is verified with integers, then its errors and
// its speed are measured with random normals.
//   --verify           only verifies
//   --controls         measures a kernel that does not load all scales
//   --profile R C K    launches each kernel once, for a profiler: R rows of x, C of w, K products for each sum
//   --list             prints how each kernel is launched, for beside_torch.py
#include "04-kernels/library.hpp"
#include "04-kernels/repeated.hpp"
#include "04-kernels/sustained.hpp"
#include "common/measure.hpp"
#include "norms.hpp"
#include "problem.hpp"
#include "sums.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

constexpr int kLongestBar = 20;  // characters
constexpr double kBudget = 0.6;  // seconds of measurement per kernel
constexpr Sides kLarge = {8192, 8192, 8192}, kSmall = {256, 256, 256};  // for a fast device, and for a slow one
constexpr Sides kVerified = {256, 512, 512};  // each cluster has several tiles, and these more steps than stages
constexpr int kRuns = 20;        // of the rows
constexpr int kMostProducts = 65536, kMostOnSlow = 2048;  // of a sum; of random numbers, on a slow device

class Ladder {
 public:
  explicit Ladder(bool has_wgmma) : kernels_(has_wgmma) {}

  // Whether all kernels compute exact sums of small integers, in a graph, also if each block has several tiles.
  bool verify(Sides sides) const {
    Problem problem(kernels_, sides);
    problem.fill(Values::kIntegers);
    unsigned long long wrong = 0;
    for (const Rung& rung : usable()) {
      problem.quantize(rung);
      Repeated(1, [&](CUstream stream) { problem.launch(rung, stream, 2); }).launch();
      const unsigned long long different = problem.compare().different;
      if (different > 0) std::printf("WRONG: %s, %llu elements\n", rung.name, different);
      wrong += different;
    }
    if (wrong == 0) std::printf("integers, %d x %d x %d: all sums are exact\n", sides.rows, sides.inner, sides.columns);
    return verify_special_rows(problem) && wrong == 0;
  }

  // Whether a row of zeros gives zeros, and rows with a NaN and an infinity NaN, if each row has scales of its own.
  bool verify_special_rows(Problem& problem) const {
    constexpr std::uint16_t kInfinity = 0x7f80, kNaN = 0x7fc0;
    problem.set_row_of_x(0, 0), problem.set_x(1, 70, kNaN), problem.set_x(2, 80, kInfinity);
    bool right = true;
    for (const Rung& rung : usable()) {
      if (rung.scales == Scales::kOne) continue;
      problem.quantize(rung);
      problem.launch(rung);
      for (const auto& [row, is_nan] : {std::pair{0, false}, {1, true}, {2, true}}) {
        const std::vector<std::uint16_t> y = problem.row_of_y(row);
        const bool all = std::all_of(y.begin(), y.end(), [is_nan = is_nan](std::uint16_t bits) {
          return is_nan ? (bits & 0x7fff) > kInfinity : (bits & 0x7fff) == 0;
        });
        if (!all) std::printf("WRONG: %s, row %d\n", rung.name, row);
        right &= all;
      }
    }
    if (right) std::printf("a row of zeros gives zeros, and rows with a NaN or an infinity give NaN\n");
    return right;
  }

  // The errors and the speed of each kernel.
  void climb() {
    const Sides sides = is_fast_ ? kLarge : kSmall;
    Problem problem(kernels_, sides);
    std::vector<std::vector<double>> errors(usable().size());
    for (const Values values : {Values::kRows, Values::kColumns, Values::kNormals}) {
      problem.fill(values);
      for (const Rung& rung : usable()) {
        problem.quantize(rung);
        problem.launch(rung);
        errors[&rung - usable().data()].push_back(100 * problem.error());
      }
    }
    std::printf("\n%d x %d x %d                           errors in percent of a typical element\n", sides.rows,
                sides.inner, sides.columns);
    std::printf("kernel       what changed                    normals    rows  columns     TFLOP/s    GHz\n");
    for (const Rung& rung : usable()) {
      const std::vector<double>& error = errors[&rung - usable().data()];
      std::printf("%-12s %-30s  %7.2f %7.2f  %7.2f", rung.name, rung.idea, error[2], error[0], error[1]);
      problem.quantize(rung);
      print_speed(sides, [&] { problem.launch(rung); });
    }
    const auto algorithms = library_.algorithms(sides, true);
    if (algorithms.empty()) return;
    std::printf("%-12s %-30s  %7s %7s  %7s", "(cublasLt)", "bfloat16", "", "", "");
    print_speed(sides, [&] { library_.multiply(problem.x(), problem.w(), problem.y(), algorithms[0]); });
  }

  void measure_controls() const {
    const Sides sides = is_fast_ ? kLarge : kSmall;
    Problem problem(kernels_, sides);
    problem.fill(Values::kNormals);
    std::printf("kernel       control run                         TFLOP/s    GHz\n");
    for (const Rung& rung : kControls) {
      std::printf("%-12s %-33s", rung.name, rung.idea);
      problem.quantize(rung);
      print_speed(sides, [&] { problem.launch(rung); });
    }
  }

  // Rows that are normalized and quantized.
  bool compare_norms() const {
    const Norms norms(is_fast_ ? 32768 : 16, is_fast_ ? kMostColumns : 1024, kernels_.portable);
    norms.in_two_kernels();
    const std::vector<char> expected = norms.bits();
    norms.in_one_kernel();
    const bool same = norms.bits() == expected;
    std::printf("\nRMSNorm and quantization            bytes per element   microseconds     TB/s\n");
    const auto row = [&](const char* name, int bytes, const std::function<void()>& work) {
      const double seconds = cu::median_device_seconds(work, is_fast_ ? kRuns : 1);
      std::printf("%-35s %17d  %13.1f  %7.3f\n", name, bytes, seconds * 1e6, bytes * norms.elements() / seconds / 1e12);
    };
    row("in two kernels", 11, [&] { norms.in_two_kernels(); });
    row("in one kernel", 7, [&] { norms.in_one_kernel(); });
    std::printf("%s\n", same ? "the results are the same" : "WRONG: the results are not the same");
    return same;
  }

  // Sums on the tensor cores, and of the kernel `promoted`.
  void measure_sums() const {
    std::printf("\nsums of e4m3   of ones            of positive numbers, error in %%   of both signs, error in %%\n");
    std::printf("                 wgmma  promoted             wgmma   promoted           wgmma   promoted\n");
    for (int products = 128; products <= kMostProducts; products *= is_fast_ ? 2 : 16) {
      Sums ones(kernels_, Products::kOnes, 1, products);
      std::printf("%5d products %8.0f  %8.0f       ", products, ones.results(false)[0], ones.results(true)[0]);
      for (const Products of : {Products::kPositive, Products::kSigned}) {
        if (!is_fast_ && products > kMostOnSlow) {
          std::printf("     %8s   %8s", "-", "-");
          continue;
        }
        Sums sums(kernels_, of, is_fast_ ? 256 : 2, products);
        std::printf("     %8.3f   %8.3f", 100 * sums.error(false), 100 * sums.error(true));
      }
      std::printf("\n");
    }
  }

  void profile(Sides sides) const {
    Problem problem(kernels_, sides);
    problem.fill(Values::kNormals);
    for (const Rung& rung : usable()) {
      problem.quantize(rung);
      problem.launch(rung);
    }
    CU_CHECK(cuCtxSynchronize());
  }

  bool has_wgmma() const { return kernels_.has_wgmma; }

 private:
  void print_speed(Sides sides, const std::function<void()>& work) const {
    const double operations = 2.0 * sides.rows * sides.columns * sides.inner;
    const auto [seconds, clock] = is_fast_ ? pace(kernels_.portable, work, kBudget) : Pace{seconds_of(work), 0};
    const double speed = operations / seconds / 1e12;
    std::printf(speed < 1000 ? "   %#9.4g  %5.3f\n" : "   %9.1f  %5.3f\n", speed, clock);
  }

  // The time of one execution. On a slow device, a second one would take too long.
  static double seconds_of(const std::function<void()>& work) {
    const cu::Event start, end;
    float milliseconds;
    CU_CHECK(cuEventRecord(start.handle, nullptr));
    work();
    CU_CHECK(cuEventRecord(end.handle, nullptr));
    CU_CHECK(cuEventSynchronize(end.handle));
    CU_CHECK(cuEventElapsedTime(&milliseconds, start.handle, end.handle));
    return milliseconds * 1e-3;
  }

  // Whether a small problem takes less than a millisecond.
  bool measure_whether_fast() const {
    Problem trial(kernels_, {128, 128, 128});
    trial.quantize(kLadder[0]);
    return cu::median_device_seconds([&] { trial.launch(kLadder[0]); }, 1) < 1e-3;
  }

  const std::vector<Rung>& usable() const { return usable_; }
  static std::vector<Rung> all(bool has_wgmma) {
    std::vector<Rung> found;
    for (const Rung& rung : kLadder) {
      if (has_wgmma || !rung.on_wgmma) found.push_back(rung);
    }
    if (has_wgmma) found.push_back(kFp8One);
    return found;
  }

  Kernels kernels_;
  std::vector<Rung> usable_ = all(kernels_.has_wgmma);
  bool is_fast_ = measure_whether_fast();
  CublasLt library_;
};

// One line for each kernel.
void list() {
  for (const Rung& rung : kLadder) {
    if (!rung.on_wgmma) continue;
    std::printf("%s %d %d %d %d %d %zu\n", rung.name, rung.threads, rung.bytes, rung.rows, rung.columns, rung.cluster,
                sizeof(Product));
  }
}

int main(int argc, char** argv) try {
  const cu::Primary context;
  const int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  if (major < 8) {
    std::printf("skipped: mma with integers of 8 bits needs compute capability 8.0, and this device has %d.%d\n", major,
                minor);
    return 77;
  }
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "--list") {
    list();
    return 0;
  }
  Ladder ladder(major == 9 && minor == 0);
  if (mode == "--profile" && argc > 4) {
    ladder.profile({std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4])});
    return 0;
  }
  if (mode == "--controls" && ladder.has_wgmma()) {
    ladder.measure_controls();
    return 0;
  }
  cu::print_device(context.device);
  bool right = ladder.verify(kVerified);
  if (mode == "--verify") return right ? 0 : 1;
  ladder.climb();
  if (!ladder.has_wgmma()) {
    std::printf("\nskipped: wgmma needs compute capability 9.0, and this device has %d.%d\n", major, minor);
    return right ? 0 : 1;
  }
  right &= ladder.compare_norms();
  ladder.measure_sums();
  return right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
