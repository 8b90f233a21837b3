// The control run of this lesson: make 02-context/08-flags-and-limits ARGS=--controls
// It waits for kernels that run for different times, by spinning and by blocking.
#pragma once
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"

#include <ctime>
#include <functional>

namespace controls {

inline double cpu_seconds_of_this_thread() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

// Prints how long a launch with the wait takes, and how much CPU time of this thread.
inline void row(const char* how, unsigned long long nanoseconds, const std::function<void()>& launch_and_wait) {
  const int runs = nanoseconds > 10'000'000 ? 7 : 1001;
  std::vector<double> cpu;
  const double seconds = cu::median_seconds(
      [&] {
        const double start = cpu_seconds_of_this_thread();
        launch_and_wait();
        cpu.push_back(cpu_seconds_of_this_thread() - start);
      },
      runs);
  std::nth_element(cpu.begin(), cpu.begin() + cpu.size() / 2, cpu.end());
  std::printf("%8.0f µs | %-34s | %10.1f | %10.1f\n", nanoseconds / 1e3, how, 1e6 * seconds, 1e6 * cpu[cpu.size() / 2]);
}

inline int run() {
  const cu::Primary context;
  cu::print_device(context.device);
  const cu::Module module(cu::image("kernels.ptx"));
  const CUfunction busy = module.function("busy");
  const cu::Stream stream;
  const cu::Event blocking(CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC);
  std::printf("\nthe kernel  |                                    | launch and wait, µs\n");
  std::printf("runs for    | the thread waits                   | time       | CPU time\n");
  for (unsigned long long nanoseconds : {10'000ull, 100'000ull, 1'000'000ull, 50'000'000ull}) {
    void* arguments[] = {&nanoseconds};
    const auto launch = [&] { CU_THROW(cuLaunchKernel(busy, 1, 1, 1, 1, 1, 1, 0, stream.handle, arguments, nullptr)); };
    const auto wait_for_stream = [&] { launch(), CU_THROW(cuStreamSynchronize(stream.handle)); };
    const auto wait_for_event = [&] {
      launch();
      CU_THROW(cuEventRecord(blocking.handle, stream.handle));
      CU_THROW(cuEventSynchronize(blocking.handle));
    };
    CU_THROW(cuCtxSetFlags(CU_CTX_SCHED_SPIN));
    row("CU_CTX_SCHED_SPIN", nanoseconds, wait_for_stream);
    row("for an event, which blocks", nanoseconds, wait_for_event);
    CU_THROW(cuCtxSetFlags(CU_CTX_SCHED_BLOCKING_SYNC));
    row("CU_CTX_SCHED_BLOCKING_SYNC", nanoseconds, wait_for_stream);
  }
  return 0;
}

}  // namespace controls
