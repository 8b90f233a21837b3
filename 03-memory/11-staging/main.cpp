// Copies from pageable memory at nearly the speed of pinned memory: threads of the host fill a ring of pinned buffers.
#include "common/cu.hpp"
#include "common/measure.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

constexpr std::size_t kPiece = 4 << 20;  // bytes in a buffer
constexpr int kBuffers = 2;              // for each thread: one is filled while the device reads the other
constexpr double kSeconds = 20e-3;       // what is copied is what pinned memory brings over in this time,
constexpr std::size_t kShare = 32;       // but no more than a 32nd of the device's memory

// A pinned buffer, and when it may be filled again.
struct Buffer {
  cu::Pinned memory{kPiece};
  cu::Event free{CU_EVENT_DISABLE_TIMING};
};

// What one thread fills.
struct Ring {
  Buffer buffers[kBuffers];
};

struct Job {
  CUcontext context;
  CUstream stream;  // all threads put their copies into the same one: from there they follow each other without a gap
  CUdeviceptr to;
  const char* from;
  std::size_t bytes;
};

// One thread's share: takes pieces until none is left.
void carry(const Ring& ring, std::atomic<std::size_t>& next, const Job& job) {
  CU_CHECK(cuCtxSetCurrent(job.context));
  int turn = 0;
  for (std::size_t at; (at = kPiece * next++) < job.bytes;) {
    const std::size_t size = std::min(kPiece, job.bytes - at);
    const Buffer& buffer = ring.buffers[turn++ % kBuffers];
    CU_CHECK(cuEventSynchronize(buffer.free.handle));
    std::memcpy(buffer.memory.address, job.from + at, size);
    CU_CHECK(cuMemcpyHtoDAsync(job.to + at, buffer.memory.address, size, job.stream));
    CU_CHECK(cuEventRecord(buffer.free.handle, job.stream));
  }
}

// Returns when all of it is on the device.
void upload(const std::vector<std::unique_ptr<Ring>>& rings, int threads, const Job& job) {
  std::atomic<std::size_t> next{0};  // the next piece that nobody has taken
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back([&, i] { carry(*rings[i], next, job); });
  carry(*rings[0], next, job);
  for (std::thread& other : others) other.join();
  CU_CHECK(cuStreamSynchronize(job.stream));
}

int main() try {
  cu::Context context;
  const double limit = cu::print_device_and_link(context.device);

  double pinned_speed = 0;
  std::size_t bytes;
  {
    constexpr std::size_t kProbe = 16 << 20;
    cu::Pinned probe(kProbe);
    cu::Memory device(kProbe);
    auto copy = [&] { CU_CHECK(cuMemcpyHtoD(device.address, probe.address, kProbe)); };
    std::size_t free_bytes, total_bytes;
    CU_CHECK(cuMemGetInfo(&free_bytes, &total_bytes));
    bytes = std::min(static_cast<std::size_t>(kSeconds * kProbe / cu::median_seconds(copy)), total_bytes / kShare);
    bytes = bytes / kPiece * kPiece + kPiece / 2;  // as a rule, the last piece is not a whole one
  }
  cu::Memory device(bytes);
  std::vector<char> pageable(bytes);
  for (std::size_t i = 0; i < bytes; ++i) pageable[i] = static_cast<char>(i * 31 >> 8);
  std::printf("\n%zu MiB to the device          |  GB/s |\n", bytes >> 20);

  // In GB/s; the bar's full length is the link's limit, or the pinned copy's speed where that is not known.
  auto measure = [&](const std::string& way, auto copy) {
    auto copied = [&] {
      copy();
      CU_CHECK(cuCtxSynchronize());
    };
    const double speed = bytes / cu::median_seconds(copied, 3) / 1e9;
    if (way == "pinned memory") pinned_speed = speed;
    std::printf("%-30s | %5.1f | %4.2f of pinned %s\n", way.c_str(), speed, speed / pinned_speed,
                cu::bar(speed, limit > 0 ? limit : pinned_speed, 30).c_str());
  };
  {
    cu::Pinned pinned(bytes);
    measure("pinned memory", [&] { CU_CHECK(cuMemcpyHtoD(device.address, pinned.address, bytes)); });
  }
  measure("pageable memory", [&] { CU_CHECK(cuMemcpyHtoD(device.address, pageable.data(), bytes)); });

  bool right = true;
  std::vector<std::unique_ptr<Ring>> rings;
  cu::Stream stream;
  const Job job{context.handle, stream.handle, device.address, pageable.data(), bytes};
  const int cores = std::max(1u, std::thread::hardware_concurrency());
  for (int threads = 1; threads <= 16; threads *= 2) {
    while (static_cast<int>(rings.size()) < threads) rings.push_back(std::make_unique<Ring>());
    CU_CHECK(cuMemsetD8(device.address, 0, bytes));
    CU_CHECK(cuCtxSynchronize());  // the stream would not wait for it
    measure("a ring, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads"),
            [&] { upload(rings, threads, job); });
    std::vector<char> back(bytes);
    CU_CHECK(cuMemcpyDtoH(back.data(), device.address, bytes));
    right &= back == pageable;
  }

  std::printf("\nThis machine has %d cores. %s\n", cores, right ? "All bytes arrived." : "Bytes were lost.");
  return right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
