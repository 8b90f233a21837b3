// Copies from pageable memory at nearly the speed of pinned memory: host threads fill a ring of pinned buffers. With
// --controls, it measures pageable memory over sizes, and memcpy beside it.
#include "common/cu.hpp"
#include "common/measure.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>
#include <thread>

constexpr std::size_t kPiece = 4 << 20;         // bytes in a buffer
constexpr int kBuffers = 2, kMostThreads = 16;  // buffers of a thread: one is filled while the device reads the other
constexpr double kSeconds = 20e-3;  // the array is as large as what pinned memory transfers in this time,
constexpr std::size_t kShare = 32;  // but at most a 32nd of the device's memory

// A pinned buffer, and the event after the last copy that reads it.
struct Buffer {
  cu::Pinned memory{kPiece};
  cu::Event read{CU_EVENT_DISABLE_TIMING};
};

// The buffers of one thread.
struct Ring {
  Buffer buffers[kBuffers];
};

struct Upload {
  CUcontext context;
  CUstream stream;  // one stream for all threads: the copies in it follow each other without gaps
  CUdeviceptr to;
  const char* from;
  std::size_t bytes;
};

// Each thread sends pieces until all of them have been taken.
void send_pieces(const Ring& ring, std::atomic<std::size_t>& next_piece, const Upload& upload) {
  const cu::Current current(upload.context);
  int count = 0;
  for (std::size_t at; (at = kPiece * next_piece++) < upload.bytes;) {
    const std::size_t size = std::min(kPiece, upload.bytes - at);
    const Buffer& buffer = ring.buffers[count++ % kBuffers];
    CU_THROW(cuEventSynchronize(buffer.read.handle));
    std::memcpy(buffer.memory.address, upload.from + at, size);
    CU_THROW(cuMemcpyHtoDAsync(upload.to + at, buffer.memory.address, size, upload.stream));
    CU_THROW(cuEventRecord(buffer.read.handle, upload.stream));
  }
}

// Returns when all bytes are on the device. get() rethrows what a worker has thrown.
void run(const Upload& upload, const std::vector<Ring>& rings, int threads) {
  std::atomic<std::size_t> next_piece{0};
  std::vector<std::future<void>> workers;
  for (int i = 0; i < threads; ++i) {
    workers.push_back(std::async(std::launch::async, [&, i] { send_pieces(rings[i], next_piece, upload); }));
  }
  for (std::future<void>& worker : workers) worker.get();
  CU_THROW(cuStreamSynchronize(upload.stream));
}

// GB/s of work that copies that many bytes.
template <class Work>
double speed_of(std::size_t bytes, Work work) {
  return static_cast<double>(bytes) / cu::median_seconds(work, 3) / 1e9;
}

double pinned_speed(std::size_t bytes) {
  const cu::Pinned pinned(bytes);
  const cu::Memory device(bytes);
  return speed_of(bytes, [&] { CU_CHECK(cuMemcpyHtoD(device.address, pinned.address, bytes)); });
}

// One thread copies all whole pieces of an array into its two pinned buffers, and nothing else.
double memcpy_speed(const std::vector<char>& array, const Ring& ring) {
  const std::size_t pieces = array.size() / kPiece;
  return speed_of(pieces * kPiece, [&] {
    for (std::size_t i = 0; i < pieces; ++i) {
      std::memcpy(ring.buffers[i % kBuffers].memory.address, array.data() + i * kPiece, kPiece);
    }
  });
}

// As many bytes as pinned memory transfers in kSeconds. The last piece is not full.
std::size_t fitting_size() {
  std::size_t free, total;
  CU_CHECK(cuMemGetInfo(&free, &total));
  const auto bytes = std::min(static_cast<std::size_t>(kSeconds * pinned_speed(4 * kPiece) * 1e9), total / kShare);
  return bytes / kPiece * kPiece + kPiece / 2;
}

// Why pageable memory is slower in large arrays: the driver's copy beside memcpy alone.
void compare_sizes(const Ring& ring) {
  std::printf("\n         | GB/s, pageable to the device | memcpy, one thread\n");
  for (std::size_t bytes = kPiece; bytes <= std::size_t{1} << 30; bytes *= 2) {
    const cu::Memory device(bytes);
    const std::vector<char> array(bytes, 1);
    const double by_driver = speed_of(bytes, [&] {
      CU_CHECK(cuMemcpyHtoD(device.address, array.data(), bytes));
      CU_CHECK(cuCtxSynchronize());
    });
    std::printf("%4zu MiB | %28.1f | %18.1f\n", bytes >> 20, by_driver, memcpy_speed(array, ring));
  }
}

int main(int argc, char** argv) try {
  cu::Primary context;
  const double limit = cu::print_device_and_link(context.device);
  if (argc > 1 && std::strcmp(argv[1], "--controls") == 0) {
    compare_sizes(Ring());
    return 0;
  }
  const std::size_t bytes = fitting_size();
  const double pinned = pinned_speed(bytes), pinned_pieces = pinned_speed(kPiece);

  const cu::Memory device(bytes);
  std::vector<char> pageable(bytes);
  for (std::size_t i = 0; i < bytes; ++i) pageable[i] = static_cast<char>(i * 31 >> 8);
  const std::vector<Ring> rings(kMostThreads);
  const double by_cpu = memcpy_speed(pageable, rings[0]);
  std::printf("memcpy into a pinned buffer, one thread: %.1f GB/s\n", by_cpu);
  std::printf("pinned memory, pieces of %zu MiB: %.1f GB/s\n", kPiece >> 20, pinned_pieces);

  std::printf("\n%4zu MiB to the device | GB/s  | model | as a share of pinned memory\n", bytes >> 20);
  const auto show = [&](const std::string& name, double speed, double model = 0) {
    char predicted[16] = "";
    if (model > 0) std::snprintf(predicted, sizeof predicted, "%.1f", model);
    std::printf("%-22s | %5.1f | %5s | %4.2f %s\n", name.c_str(), speed, predicted, speed / pinned,
                cu::bar(speed, limit > 0 ? limit : pinned, 30).c_str());
  };
  show("pinned memory", pinned);
  show("pageable memory", speed_of(bytes, [&] {
         CU_CHECK(cuMemcpyHtoD(device.address, pageable.data(), bytes));
         CU_CHECK(cuCtxSynchronize());
       }));

  bool correct = true;
  const cu::Stream stream;
  const Upload upload{context.handle, stream.handle, device.address, pageable.data(), bytes};
  for (int threads = 1; threads <= kMostThreads; threads *= 2) {
    CU_CHECK(cuMemsetD8(device.address, 0, bytes));
    CU_CHECK(cuCtxSynchronize());  // the stream is non-blocking: it would not wait for the memset
    show("a ring, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads"),
         speed_of(bytes, [&] { run(upload, rings, threads); }), std::min(threads * by_cpu, pinned_pieces));
    std::vector<char> back(bytes);
    CU_CHECK(cuMemcpyDtoH(back.data(), device.address, bytes));
    correct &= back == pageable;
  }

  std::printf("\nThis machine has %u cores. %s\n", std::thread::hardware_concurrency(),
              correct ? "All bytes are correct." : "Some bytes are wrong.");
  return correct ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
