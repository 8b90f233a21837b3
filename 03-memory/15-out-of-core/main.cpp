// Streams a data set from disk through a few buffers: the disk reads, a copy engine copies, and a kernel adds up.
// Measures each stage alone and the pipeline with one to four buffers, for a fast and a slow source and a fast and a
// slow kernel.
#include "file.hpp"

#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

constexpr int kMostBuffers = 4;

// A piece's place on both sides, and the event that says when both may be used for another piece.
struct Buffer {
  cu::Pinned host{kPiece};
  cu::Memory device{kPiece};
  cu::Event copied{CU_EVENT_DISABLE_TIMING}, processed{CU_EVENT_DISABLE_TIMING};
};

class Pipeline {
 public:
  explicit Pipeline(CUfunction add_up) : add_up_(add_up) {}

  // Runs all pieces of the data set through the first `count` buffers. Returns seconds.
  double run(const Reader& reader, int pieces, int count, int rounds) {
    CU_CHECK(cuMemsetD8(sum_.address, 0, sizeof(std::uint64_t)));
    CU_CHECK(cuCtxSynchronize());
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < pieces; ++i) {
      Buffer& buffer = buffers_[i % count];
      CU_CHECK(cuEventSynchronize(buffer.processed.handle));
      reader.read(i, buffer.host.address);

      CU_CHECK(cuMemcpyHtoDAsync(buffer.device.address, buffer.host.address, kPiece, copies_.handle));
      CU_CHECK(cuEventRecord(buffer.copied.handle, copies_.handle));

      CU_CHECK(cuStreamWaitEvent(kernels_.handle, buffer.copied.handle, 0));
      launch(buffer, rounds);
      CU_CHECK(cuEventRecord(buffer.processed.handle, kernels_.handle));
    }
    CU_CHECK(cuStreamSynchronize(kernels_.handle));
    return since(start);
  }

  std::uint64_t sum() const {
    std::uint64_t value;
    CU_CHECK(cuMemcpyDtoH(&value, sum_.address, sizeof value));
    return value;
  }

  // Seconds for one piece, when nothing else runs.
  double read_alone(const Reader& reader, int pieces) const {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < pieces; ++i) reader.read(i, buffers_[0].host.address);
    return since(start) / pieces;
  }
  // The same if several threads read, each of them into a buffer of its own.
  double read_by(int threads, const Reader& reader, int pieces) const {
    const std::vector<cu::Pinned> places = pinned(threads);
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> all;
    for (int k = 0; k < threads; ++k) {
      all.emplace_back([&, k] {
        for (int i = k; i < pieces; i += threads) reader.read(i, places[k].address);
      });
    }
    for (std::thread& one : all) one.join();
    return since(start) / pieces;
  }
  double copy_alone() {
    return cu::median_seconds([&] {
      CU_CHECK(cuMemcpyHtoDAsync(buffers_[0].device.address, buffers_[0].host.address, kPiece, copies_.handle));
      CU_CHECK(cuStreamSynchronize(copies_.handle));
    });
  }
  double kernel_alone(int rounds) {
    return cu::median_seconds([&] {
      launch(buffers_[0], rounds);
      CU_CHECK(cuStreamSynchronize(kernels_.handle));
    });
  }
  // So many rounds that the kernel takes about as long as wanted.
  int rounds_for(double seconds) {
    int rounds = 1;
    for (int i = 0; i < 10; ++i) {
      const double took = kernel_alone(rounds);
      if (took > 0.95 * seconds) break;
      rounds = std::max(rounds + 1, static_cast<int>(rounds * std::min(seconds / took, 16.0)));
    }
    return rounds;
  }

 private:
  static std::vector<cu::Pinned> pinned(int count) {
    std::vector<cu::Pinned> made;
    for (int i = 0; i < count; ++i) made.emplace_back(kPiece);
    return made;
  }
  static double since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  void launch(Buffer& buffer, int rounds) {
    int n = kPiece / sizeof(std::uint32_t);
    void* arguments[] = {&buffer.device.address, &n, &rounds, &sum_.address};
    CU_CHECK(cuLaunchKernel(add_up_, 512, 1, 1, 256, 1, 1, 0, kernels_.handle, arguments, nullptr));
  }

  CUfunction add_up_;
  std::vector<Buffer> buffers_ = std::vector<Buffer>(kMostBuffers);
  cu::Stream copies_, kernels_;
  cu::Memory sum_{sizeof(std::uint64_t)};
};

double gigabytes_per_second(double seconds) { return kPiece / seconds / 1e9; }

// The median of three measurements. The speed of a disk varies more than most.
template <class Measure>
double typical(Measure measure) {
  double seconds[] = {measure(), measure(), measure()};
  std::sort(std::begin(seconds), std::end(seconds));
  return seconds[1];
}

// A table: one to four buffers, for a source and a kernel.
bool table(const char* title, Pipeline& pipeline, const DataSet& data, const Reader& reader, double copy, bool slow) {
  const double read = typical([&] { return pipeline.read_alone(reader, data.pieces()); });
  const int rounds = slow ? pipeline.rounds_for(read) : 1;
  const double kernel = pipeline.kernel_alone(rounds);
  const double longest = std::max({read, copy, kernel}), sum = read + copy + kernel;
  std::printf("\n%s: read %.2f ms, copy %.2f ms, kernel %.2f ms\n", title, 1e3 * read, 1e3 * copy, 1e3 * kernel);
  std::printf("buffers | ms a piece | model   | slowest stage / ms a piece\n");
  bool correct = true;
  for (int count = 1; count <= kMostBuffers; ++count) {
    const double seconds = typical([&] { return pipeline.run(reader, data.pieces(), count, rounds); }) / data.pieces();
    const double share = longest / seconds;
    std::printf("%7d | %10.2f | %7.2f | %4.2f %s\n", count, 1e3 * seconds, 1e3 * std::max(longest, sum / count), share,
                cu::bar(share, 1, 26).c_str());
    correct &= pipeline.sum() == data.sum();
  }
  return correct;
}

// How fast several threads read, in GB/s.
void controls(const Pipeline& pipeline, const DataSet& data, const Reader& cached, const Reader& direct) {
  std::printf("\nthreads | page cache | O_DIRECT  (GB/s)\n");
  for (int threads = 1; threads <= 16; threads *= 2) {
    std::printf("%7d | %10.2f | %8.2f\n", threads,
                gigabytes_per_second(pipeline.read_by(threads, cached, data.pieces())),
                direct.works() ? gigabytes_per_second(pipeline.read_by(threads, direct, data.pieces())) : 0);
  }
}

// A data set that the kernel, or a GPU's disk, works on for a while: some hundred pieces on a GPU.
int pieces_for(double kernel) { return std::clamp(static_cast<int>(0.05 / kernel), 5, 256); }

int main(int argc, char** argv) try {
  const cu::Primary context;
  cu::print_device_and_link(context.device);
  const cu::Module module(cu::image("kernels.ptx"));
  Pipeline pipeline(module.function("add_up"));
  const double copy = pipeline.copy_alone(), kernel = pipeline.kernel_alone(1);
  const DataSet data(cu::image("data.bin"), pieces_for(kernel));
  const Reader cached(data, false), direct(data, true);

  std::printf("The data set has %zu MiB, in pieces of %zu MiB.\n\n", data.pieces() * (kPiece >> 20), kPiece >> 20);
  const auto speed = [](const char* what, double seconds) {
    std::printf("%-35s | %6.2f GB/s\n", what, gigabytes_per_second(seconds));
  };
  cached.drop();
  speed("first read, through the page cache", pipeline.read_alone(cached, data.pieces()));
  speed("second read, from the page cache", pipeline.read_alone(cached, data.pieces()));
  if (direct.works()) speed("from the disk, with O_DIRECT", pipeline.read_alone(direct, data.pieces()));
  speed("copy to the device", copy);
  speed("fast kernel", kernel);
  if (argc > 1 && std::strcmp(argv[1], "--controls") == 0) {
    controls(pipeline, data, cached, direct);
    return 0;
  }

  bool correct = true;
  if (direct.works()) {
    correct &= table("from the disk, fast kernel", pipeline, data, direct, copy, false);
    correct &= table("from the disk, slow kernel", pipeline, data, direct, copy, true);
  }
  correct &= table("from the page cache, fast kernel", pipeline, data, cached, copy, false);
  correct &= table("from the page cache, slow kernel", pipeline, data, cached, copy, true);
  std::printf("\n%s\n", correct ? "All sums are correct." : "Some sums are wrong.");
  return correct ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
