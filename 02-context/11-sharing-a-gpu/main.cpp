// A service runs short kernels beside a neighbor that keeps the GPU busy with long ones. Measures how long the service
// waits, in several arrangements of the two, and what a fault of the neighbor does to the service.
#include "green.hpp"
#include "mps.hpp"
#include "neighbor.hpp"

#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "common/processes.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

constexpr unsigned kReserved = 16;  // multiprocessors for the service, if it has some of its own
constexpr unsigned kLeastRequests = 100, kMostRequests = 400;  // in a row of the table, depending on
constexpr auto kLongEnough = std::chrono::milliseconds(500);   // this time

// The service: a kernel that takes about 50 us when it is alone, launched now and then in a stream.
struct Service {
  CUstream stream;
  Kernel request;

  // Milliseconds from the launch until the host knows that the kernel has finished.
  double time() const {
    const auto start = std::chrono::steady_clock::now();
    request.launch(stream);
    CU_THROW(cuStreamSynchronize(stream));
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
  // The times of many requests, sorted. The pauses between them follow no pattern that could match the neighbor's.
  std::vector<double> times() const {
    std::vector<double> measured;
    const auto enough = std::chrono::steady_clock::now() + kLongEnough;
    for (unsigned i = 0; i < kMostRequests && (i < kLeastRequests || std::chrono::steady_clock::now() < enough); ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(i * 7919 % 3001));
      measured.push_back(time());
    }
    std::sort(measured.begin(), measured.end());
    return measured;
  }
};

// Runs the service and then lets the neighbor fault, and prints a row of the table.
void row(const char* arrangement, const Service& service, Neighbor& neighbor) {
  neighbor.start();
  const std::vector<double> times = service.times();
  const double rate = neighbor.stop();
  neighbor.fault();
  std::string after = "CUDA_SUCCESS";
  try {
    service.time();
  } catch (const cu::Error& error) {
    after = cu::name(error.code());
  }
  std::printf("%-34s | %7.3f | %7.3f | %13.1f | %7.1f | %s\n", arrangement, times[times.size() / 2],
              times[times.size() * 99 / 100], rate, neighbor.mebibytes, after.c_str());
  std::fflush(stdout);
  _exit(0);  // after a fault, the owners could release nothing
}

constexpr double kRequestMilliseconds = 0.05;

void alone() {
  const cu::Primary context;
  const cu::Module module(cu::image("kernels.ptx"));
  const cu::Stream stream;
  const Service service{stream.handle, Kernel(module.function("work"), 8, kRequestMilliseconds, stream.handle)};
  const std::vector<double> times = service.times();
  std::printf("%-34s | %7.3f | %7.3f |\n", "no neighbor", times[times.size() / 2], times[times.size() * 99 / 100]);
}

// Under MPS, if it is running: the environment decides.
void two_processes(const char* arrangement, unsigned waves = 1) {
  InAnotherProcess neighbor(waves);
  const cu::Primary context;
  const cu::Module module(cu::image("kernels.ptx"));
  const cu::Stream stream;
  const Service service{stream.handle, Kernel(module.function("work"), 8, kRequestMilliseconds, stream.handle)};
  neighbor.connect();
  row(arrangement, service, neighbor);
}

void two_streams(const char* arrangement, bool urgent, unsigned waves = 1) {
  const cu::Primary context;
  const cu::Module module(cu::image("kernels.ptx"));
  int lowest, highest;
  CU_THROW(cuCtxGetStreamPriorityRange(&lowest, &highest));
  CUstream stream;
  CU_THROW(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, urgent ? highest : lowest));
  const Service service{stream, Kernel(module.function("work"), 8, kRequestMilliseconds, stream)};
  const double before = free_mebibytes();
  const cu::Stream beside;
  InThisProcess neighbor(module, context.handle, beside.handle, multiprocessors(context.device), waves);
  neighbor.mebibytes = before - free_mebibytes();
  row(arrangement, service, neighbor);
}

void green_contexts() {
  const cu::Primary context;
  const cu::Module module(cu::image("kernels.ptx"));
  const double before = free_mebibytes();
  const Split parts = split(context.device, kReserved);
  const Green reserved(context.device, parts.group), rest(context.device, parts.rest);
  const Service service{reserved.stream, Kernel(module.function("work"), 8, kRequestMilliseconds, reserved.stream)};
  InThisProcess neighbor(module, context.handle, rest.stream, rest.multiprocessors, 1);
  neighbor.mebibytes = before - free_mebibytes();
  const std::string arrangement = "one process, green contexts " + std::to_string(reserved.multiprocessors) + "+" +
                                  std::to_string(rest.multiprocessors);
  row(arrangement.c_str(), service, neighbor);
}

// Runs a function in a process of its own: after a fault, a process cannot use the GPU any more.
bool in_a_process(const std::function<void()>& measure) {
  return cu::Process([&](int) { measure(); }).wait() == 0;
}

bool five_arrangements() {
  bool worked = in_a_process(alone);
  worked &= in_a_process([] { two_processes("two processes"); });
  worked &= in_a_process([] { two_streams("one process, two streams", false); });
  worked &= in_a_process([] { two_streams("one process, stream with priority", true); });
  worked &= in_a_process(green_contexts);
  return worked;
}

// The same if each kernel of the neighbor consists of 20 waves of blocks.
bool short_blocks() {
  bool worked = in_a_process([] { two_processes("two processes", 20); });
  worked &= in_a_process([] { two_streams("one process, two streams", false, 20); });
  worked &= in_a_process([] { two_streams("one process, stream with priority", true, 20); });
  return worked;
}

bool under_mps() {
  const Mps mps;
  if (!mps.problem.empty()) {
    std::printf("MPS is not running: %s.\n", mps.problem.c_str());
    return true;
  }
  bool worked = in_a_process([] { two_processes("two processes, MPS"); });
  worked &= in_a_process([&] { mps.limit(85), two_processes("two processes, MPS, 85 %"); });
  return worked;
}

int main(int count, char** options) try {
  const std::string option = count > 1 ? options[1] : "";
  std::printf("%-34s | p50 ms  | p99 ms  | its kernels/s | its MiB | after its fault\n",
              "a service beside a neighbor:");
  return (option == "--mps" ? under_mps() : option == "--controls" ? short_blocks() : five_arrangements()) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
