// Adds up numbers of all GPUs with NCCL, in contexts, streams and memory from the driver API, and measures the time and
// the bus bandwidth for messages of 1 KiB to 1 GiB.
//
//   all_reduce [path of libnccl.so.2]
#include "common/cu.hpp"
#include "nccl.hpp"
#include "nvlink.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

constexpr std::size_t kLargest = std::size_t{1} << 30;  // bytes
constexpr int kRuns = 20;
constexpr int kSkipped = 77;  // the exit status of a program that has printed why it cannot run

// A device's primary context, which NCCL uses for this device, and what the program creates in it.
struct Side {
  cu::Primary primary;  // first, so it is current while the rest is created
  cu::Stream stream;
  cu::Memory send{kLargest}, receive{kLargest};

  explicit Side(int ordinal) : primary(ordinal) {
    const float mine = static_cast<float>(ordinal + 1);  // device 0 contributes ones, device 1 twos, …
    unsigned bits;
    std::memcpy(&bits, &mine, sizeof bits);
    CU_THROW(cuMemsetD32(send.address, bits, kLargest / sizeof bits));
    CU_THROW(cuCtxSynchronize());
  }
};

// One for each device. They are destroyed in reverse order, because each has an entry on the context stack.
struct Sides : std::vector<std::unique_ptr<const Side>> {
  ~Sides() {
    while (!empty()) pop_back();
  }
};

// One thread calls for all devices, so the calls form a group. Otherwise the first would wait for the second: a
// deadlock.
void all_reduce(const Nccl& nccl, const std::vector<Nccl::Communicator>& communicators, const Sides& sides,
                std::size_t bytes) {
  nccl.check("ncclGroupStart", nccl.group_start());
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const Side& side = *sides[i];
    nccl.check("ncclAllReduce", nccl.all_reduce(reinterpret_cast<void*>(side.send.address),
                                                reinterpret_cast<void*>(side.receive.address), bytes / sizeof(float),
                                                Nccl::kFloat32, Nccl::kSum, communicators[i], side.stream.handle));
  }
  nccl.check("ncclGroupEnd", nccl.group_end());
}

// The time of one run, averaged over several runs in the same streams.
double seconds(const Sides& sides, const std::function<void()>& work) {
  const cu::Current current(sides[0]->primary.handle);
  const CUstream stream = sides[0]->stream.handle;
  const cu::Event start, end;
  float milliseconds;
  work();
  CU_THROW(cuEventRecord(start.handle, stream));
  for (int run = 0; run < kRuns; ++run) work();
  CU_THROW(cuEventRecord(end.handle, stream));
  CU_THROW(cuEventSynchronize(end.handle));
  CU_THROW(cuEventElapsedTime(&milliseconds, start.handle, end.handle));
  return milliseconds / 1e3 / kRuns;
}

// Whether every number on every device is 1 + 2 + … + n.
bool right(const Sides& sides, std::size_t bytes) {
  const float sum = static_cast<float>(sides.size() * (sides.size() + 1) / 2);
  std::vector<float> got(bytes / sizeof(float));
  for (const auto& side : sides) {
    const cu::Current current(side->primary.handle);
    CU_THROW(cuStreamSynchronize(side->stream.handle));
    CU_THROW(cuMemcpyDtoH(got.data(), side->receive.address, bytes));
    CU_THROW(cuMemsetD32(side->receive.address, 0, bytes / sizeof(float)));
    CU_THROW(cuCtxSynchronize());  // the stream does not wait for the default stream
    if (std::any_of(got.begin(), got.end(), [&](float number) { return number != sum; })) return false;
  }
  return true;
}

int main(int argc, char** argv) try {
  void* const library = dlopen(argc > 1 ? argv[1] : "libnccl.so.2", RTLD_NOW);
  if (library == nullptr) {
    std::printf("skipped: %s\n", dlerror());
    return kSkipped;
  }
  const Nccl nccl(library);
  int devices, version;
  CU_THROW(cuInit(0));
  CU_THROW(cuDeviceGetCount(&devices));
  nccl.check("ncclGetVersion", nccl.get_version(&version));
  if (devices < 2) {
    std::printf("skipped: it needs two devices, but there is %d\n", devices);
    return kSkipped;
  }
  Sides sides;
  for (int device = 0; device < devices; ++device) sides.push_back(std::make_unique<Side>(device));
  std::vector<Nccl::Communicator> communicators(devices);
  nccl.check("ncclCommInitAll", nccl.comm_init_all(communicators.data(), devices, nullptr));

  const double limit = nvlink_limit(sides[0]->primary.device);
  std::printf("NCCL %d.%d, %d devices", version / 10000, version / 100 % 100, devices);
  if (limit > 0) std::printf("; the links of one device carry at most %.0f GB/s each way", limit);
  std::printf("\n");
  std::printf("    size |        time | bus bandwidth\n");
  bool all_right = true;
  for (std::size_t bytes = std::size_t{1} << 10; bytes <= kLargest; bytes *= 2) {
    const double time = seconds(sides, [&] { all_reduce(nccl, communicators, sides, bytes); });
    // Each device sends and receives at least this share of every byte. nccl-tests calls the result bus bandwidth.
    const double bandwidth = 2.0 * (devices - 1) / devices * bytes / time;
    const bool small = bytes < std::size_t{1} << 20;
    std::printf("%4zu %s | %8.1f µs | %8.3f GB/s\n", bytes >> (small ? 10 : 20), small ? "KiB" : "MiB", time * 1e6,
                bandwidth / 1e9);
    if (!right(sides, bytes)) {
      std::printf("The sums are wrong.\n");
      all_right = false;
    }
  }
  for (const Nccl::Communicator communicator : communicators) nccl.comm_destroy(communicator);
  return all_right ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
