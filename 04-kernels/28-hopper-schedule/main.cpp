// Ways to keep the tensor cores of compute capability 9.0 busy, step by step. Each kernel is verified, then timed with
// random normals. A second table compares the fastest kernel for each size with cublasLt.
//   --controls   measures variants that leave something out
//   --verify N   verifies each kernel for n = N
//   --profile N  launches each kernel once for n = N, for a profiler
#include "04-kernels/library.hpp"
#include "04-kernels/sustained.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "matrices.hpp"
#include "shape.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

constexpr int kLongestBar = 20;        // characters
constexpr int kLargest = 8192;         // the matrices of the first table have at most this side
constexpr double kBudget = 0.4;        // seconds of measurement per kernel
constexpr double kShortBudget = 0.08;  // per candidate and per algorithm of cublasLt
constexpr int kRounds = 7;             // then the best of both alternate
constexpr double kRoundBudget = 0.12;

struct Rung {
  const char *name, *kernel, *idea;
  int threads, bytes, rows, columns, cluster;  // threads and shared memory of a block, its tile, blocks of a cluster
  bool persistent, stream_k;
  int band;  // rows of c that the tile order visits column by column; 0: row by row
};

template <class Shape>
constexpr Rung rung(const char* name, const char* kernel, const char* idea, bool persistent = false, int band = 0) {
  return {name,
          kernel,
          idea,
          kThreads<Shape>,
          kSharedBytes<Shape>,
          kTileRows<Shape>,
          Shape::kColumns,
          Shape::kCluster,
          persistent,
          Shape::kStreamK,
          band};
}

constexpr int kBand = 2048;

constexpr Rung kLadder[] = {
    rung<Warpgroup>("warpgroup", "warpgroup", "wgmma; threads load"),
    rung<Warpgroup>("tma", "tma", "one thread issues TMA loads"),
    rung<Multistage>("multistage", "multistage", "four stages, loaded ahead"),
    rung<Multistage>("rasterized", "multistage", "tiles in bands of rows", false, kBand),
    rung<Specialized>("specialized", "specialized", "a producer and a consumer", false, kBand),
    rung<Cooperative>("cooperative", "cooperative", "two consumers share b", false, kBand),
    rung<Cooperative>("persistent", "cooperative", "each block computes many tiles", true, kBand),
    rung<TmaStore>("tma_store", "tma_store", "stmatrix and TMA stores", true, kBand),
    rung<Cluster>("cluster", "cluster", "two blocks share b", true, kBand),
    rung<PingPong>("ping_pong", "ping_pong", "or: consumers alternate", true, kBand),
    rung<KeepA>("keep_a", "keep_a", "or: a stays in the L2 cache", true, kBand),
    rung<StreamK>("stream_k", "stream_k", "or: the last tiles are divided", true, kBand),
};

constexpr Rung kControls[] = {
    rung<Cluster>("cluster", "cluster", "for comparison", true, kBand),
    rung<Cluster>("cluster", "cluster", "tiles row by row", true),
    rung<NoLoads>("cluster", "no_loads", "nothing loaded after the first stages", true, kBand),
    rung<NoSetmaxnreg>("cluster", "no_setmaxnreg", "no setmaxnreg", true, kBand),
    rung<Warpgroup>("tma", "tma", "for comparison"),
    rung<Warpgroup>("tma", "tma", "tiles in bands of rows", false, kBand),
    rung<OneBlock>("tma", "tma", "one block per multiprocessor"),
    rung<Specialized>("specialized", "specialized", "for comparison", false, kBand),
    rung<Specialized>("specialized", "specialized", "tiles row by row", false),
    rung<ReleaseCluster>("specialized", "release_cluster", "arrivals with .release.cluster", false, kBand),
};

// For each size, the fastest of these is used.
constexpr Rung kCandidates[] = {
    rung<Smallest>("64 x 64", "smallest", "", true),
    rung<Small>("64 x 128", "small", "", true),
    rung<Narrow>("128 x 128", "narrow", "", true, kBand),
    rung<TmaStore>("128 x 256", "tma_store", "", true, kBand),
    rung<Cluster>("128 x 256 x 2, band 1024", "cluster", "", true, 1024),
    rung<Cluster>("128 x 256 x 2, band 2048", "cluster", "", true, 2048),
    rung<Cluster>("128 x 256 x 2, band 4096", "cluster", "", true, 4096),
    rung<KeepA>("128 x 256 x 2, keep_a", "keep_a", "", true, kBand),
};
constexpr int kSizes[] = {512, 1024, 2048, 4096, 8192, 16384};

// Operations per byte that the blocks load into shared memory. A box that is loaded for a whole cluster counts once.
double intensity(const Rung& rung) {
  const double elements = rung.rows + static_cast<double>(rung.columns) / rung.cluster;  // per product of each sum
  return 2.0 * rung.rows * rung.columns / (2 * elements);
}

int attribute(CUdevice_attribute which) {
  CUdevice device;
  int value;
  CU_CHECK(cuCtxGetDevice(&device));
  CU_CHECK(cuDeviceGetAttribute(&value, which, device));
  return value;
}

double tflops(double n, const std::function<void()>& work, double budget = kBudget) {
  return 2 * n * n * n / sustained_seconds(work, budget) / 1e12;
}

class Ladder {
 public:
  // Returns whether all results were right.
  bool climb(CUdevice device) {
    char name[100];
    CU_CHECK(cuDeviceGetName(name, sizeof name, device));
    n_ = side();
    MappedMatrices matrices(module_, n_, multiprocessors_);
    const Product product = matrices.product();
    std::vector<unsigned> wrong(std::size(kLadder));
    for (const Data data : {Data::kIntegers, Data::kNormals}) {
      matrices.fill(data);
      for (const Rung& rung : kLadder) wrong[&rung - kLadder] += wrong_elements(matrices, rung);
    }
    std::printf("%s, %d x %d bfloat16, random normals; peak %.1f TFLOP/s, %.0f GB/s\n\n", name, n_, n_, peak_,
                cu::memory_limit(device));
    std::printf("kernel       what changed                    FLOP/byte    TFLOP/s  of peak\n");
    for (const Rung& rung : kLadder) {
      if (wrong[&rung - kLadder] > 0) {
        std::printf("%-12s %-30s  WRONG: not timed\n", rung.name, rung.idea);
        continue;
      }
      const double speed = tflops(n_, [&] { launch(rung, product); });
      std::printf("%-12s %-30s  %9.1f  %#9.4g     %4.2f %s\n", rung.name, rung.idea, intensity(rung), speed,
                  speed / peak_, cu::bar(speed, peak_, kLongestBar).c_str());
    }
    return std::count(wrong.begin(), wrong.end(), 0u) == static_cast<std::ptrdiff_t>(wrong.size());
  }

  // For each size, the fastest candidate next to the fastest algorithm of cublasLt.
  bool compare_sizes() {
    std::printf("\nn      tile of a block             TFLOP/s   cublasLt  ratio\n");
    bool right = true;
    for (const int n : kSizes) {
      if (n > 2 * n_ && n > kSizes[0]) break;
      right &= compare(n_ < kSizes[0] ? n_ : n);
    }
    return right;
  }

  void measure_controls() {
    n_ = side();
    MappedMatrices matrices(module_, n_, multiprocessors_);
    std::printf("control run, TFLOP/s                                   normals   integers\n");
    for (const Rung& rung : kControls) {
      const auto speed = [&](Data data) {
        matrices.fill(data);
        return tflops(n_, [&] { launch(rung, matrices.product()); });
      };
      std::printf("%-12s %-40s", rung.name, rung.idea), std::printf("%#9.4g", speed(Data::kNormals));
      std::printf("  %#9.4g\n", speed(Data::kIntegers));
    }
  }

  bool verify(int n) {
    MappedMatrices matrices(module_, n, multiprocessors_);
    unsigned wrong = 0;
    const auto check = [&](const Rung& rung) {
      const unsigned count = wrong_elements(matrices, rung);
      if (count > 0) std::printf("%s: %u elements are wrong\n", rung.kernel, count);
      wrong += count;
    };
    for (const Data data : {Data::kIntegers, Data::kNormals}) {
      matrices.fill(data);
      for (const Rung& rung : kLadder) check(rung);
      for (const Rung& rung : kCandidates) check(rung);
    }
    std::printf("%d x %d: %s\n", n, n, wrong == 0 ? "all elements are right" : "WRONG");
    return wrong == 0;
  }

  // Launches each kernel once.
  void profile(int n) {
    MappedMatrices matrices(module_, n, multiprocessors_);
    matrices.fill(Data::kNormals);
    for (const Rung& rung : kLadder) launch(rung, matrices.product());
    CU_CHECK(cuCtxSynchronize());
  }

 private:
  // Returns the rung's kernel, which may then use as much shared memory as the rung needs.
  CUfunction prepared(const Rung& rung) {
    auto& [kernel, bytes] = kernels_[rung.kernel];
    if (kernel == nullptr) kernel = module_.function(rung.kernel);
    if (bytes < rung.bytes) {
      bytes = rung.bytes;
      CU_CHECK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes));
    }
    return kernel;
  }

  // With at most `most` blocks, if the kernel is persistent.
  void launch(const Rung& rung, const Product& described, unsigned most = UINT_MAX) {
    Product product = described;
    const CUfunction kernel = prepared(rung);
    const unsigned tiles = product.n / rung.rows * (product.n / rung.columns);
    const unsigned fit = std::min<unsigned>(most, multiprocessors_) / rung.cluster * rung.cluster;
    product.band = std::max(1, rung.band / (rung.rows * rung.cluster));
    CUlaunchAttribute cluster{};
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim.x = rung.cluster;
    cluster.value.clusterDim.y = cluster.value.clusterDim.z = 1;
    CUlaunchConfig config{};
    config.gridDimX = rung.stream_k ? fit : rung.persistent ? std::min(tiles, fit) : tiles;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = rung.threads;
    config.blockDimY = config.blockDimZ = 1;
    config.sharedMemBytes = rung.bytes;
    config.attrs = &cluster;
    config.numAttrs = 1;
    void* arguments[] = {&product};  // the driver copies it
    CU_CHECK(cuLaunchKernelEx(&config, kernel, arguments, nullptr));
  }

  // Returns the side of the first table's matrices, for which a kernel takes at least a millisecond on this device.
  int side() {
    for (int n = 256;; n *= 2) {
      if (n == kLargest) return n;
      MappedMatrices trial(module_, n, multiprocessors_);
      trial.fill(Data::kNormals);
      if (cu::median_device_seconds([&] { launch(kLadder[1], trial.product()); }, 1) > 1e-3) return n;
    }
  }

  // Small matrices have one tile per block, so persistent kernels are also verified with a quarter of the blocks.
  unsigned wrong_elements(MappedMatrices& matrices, const Rung& rung) {
    const Product product = matrices.product();
    launch(rung, product);
    unsigned wrong = matrices.wrong();
    if (rung.persistent) {
      const int tiles = product.n / rung.rows * (product.n / rung.columns);
      launch(rung, product, std::max(tiles / 4, rung.cluster));
      wrong += matrices.wrong();
    }
    return wrong;
  }

  // Returns the index of the fastest of some work, as measured in a short time; -1 if there is none.
  template <class Work>
  static int fastest(int n, std::size_t count, Work work) {
    int best = -1;
    double highest = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double speed = tflops(n, [&] { work(i); }, kShortBudget);
      if (speed > highest) highest = speed, best = static_cast<int>(i);
    }
    return best;
  }

  bool compare(int n) {
    MappedMatrices matrices(module_, n, multiprocessors_);
    const Product product = matrices.product();
    matrices.fill(Data::kNormals);
    // A device that is too slow for these sizes gets the first candidate, which suits small matrices.
    const std::size_t candidates = n < kSizes[0] ? 1 : std::size(kCandidates);
    const Rung& rung = kCandidates[fastest(n, candidates, [&](int i) { launch(kCandidates[i], product); })];
    for (const Data data : {Data::kIntegers, Data::kNormals}) {
      matrices.fill(data);
      if (wrong_elements(matrices, rung) == 0) continue;
      std::printf("%-6d %-25s  WRONG: not timed\n", n, rung.name);
      return false;
    }
    std::vector<CublasLt::Algorithm> algorithms;
    for (const auto& algorithm : library_.algorithms(n)) {
      if (library_.multiply(product.a, product.b, product.c, algorithm) && matrices.wrong() == 0) {
        algorithms.push_back(algorithm);
      }
    }
    const auto multiply = [&](int i) { library_.multiply(product.a, product.b, product.c, algorithms[i]); };
    const int best = fastest(n, algorithms.size(), multiply);
    // The two alternate, because the clock depends on the temperature, and thus on what has run before.
    std::vector<double> ours, theirs;
    for (int round = 0; round < (best < 0 ? 1 : kRounds); ++round) {
      if (best >= 0) theirs.push_back(tflops(n, [&] { multiply(best); }, kRoundBudget));
      ours.push_back(tflops(n, [&] { launch(rung, product); }, kRoundBudget));
    }
    std::printf("%-6d %-25s  %#9.4g", n, rung.name, median(ours));
    if (best < 0) {
      std::printf("          -      -\n");
    } else {
      std::printf("  %#9.4g  %5.3f\n", median(theirs), median(ours) / median(theirs));
    }
    return true;
  }

  cu::Module module_{cu::image("kernels.ptx")};
  CublasLt library_;
  std::map<std::string, std::pair<CUfunction, int>> kernels_;  // and the shared memory that they may use
  int multiprocessors_ = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  int n_ = 0;
  // A multiprocessor of compute capability 9.0 performs 2048 multiply-adds of bfloat16 per cycle.
  double peak_ = 2.0 * 2048 * multiprocessors_ * attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) * 1e3 / 1e12;
};

int main(int argc, char** argv) try {
  cu::Primary context;
  const int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  if (major != 9 || minor != 0) {
    std::printf("skipped: wgmma needs compute capability 9.0, and this device has %d.%d\n", major, minor);
    return 77;
  }
  Ladder ladder;
  if (argc > 1 && std::strcmp(argv[1], "--controls") == 0) {
    ladder.measure_controls();
    return 0;
  }
  if (argc > 2 && std::strcmp(argv[1], "--verify") == 0) return ladder.verify(std::atoi(argv[2])) ? 0 : 1;
  if (argc > 2 && std::strcmp(argv[1], "--profile") == 0) {
    ladder.profile(std::atoi(argv[2]));
    return 0;
  }
  const bool right = ladder.climb(context.device);
  return ladder.compare_sizes() && right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
