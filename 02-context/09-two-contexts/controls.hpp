// The control run of this lesson: make 02-context/09-two-contexts ARGS=--controls
// It shows how long two kernels take in two streams of one context, and in two contexts.
#pragma once
#include "common/cu.hpp"
#include "common/image.hpp"

#include <chrono>
#include <cstdio>

namespace controls {

constexpr long long kSteps = 12'000'000;  // about 27 ms on an H200

// A kernel, a stream and memory in the context that is current for the constructor and the destructor.
struct Worker {
  cu::Module module{cu::image("kernels.ptx")};
  cu::Stream stream;
  cu::Memory result{sizeof(float)};

  void launch() {
    long long steps = kSteps;
    void* arguments[] = {&result.address, &steps};
    CU_THROW(cuLaunchKernel(module.function("work"), 1, 1, 1, 1, 1, 1, 0, stream.handle, arguments, nullptr));
  }
  void wait() const { CU_THROW(cuStreamSynchronize(stream.handle)); }
};

template <class Work>
double milliseconds(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

inline double together(Worker& first, Worker& second) {
  return milliseconds([&] {
    first.launch();
    second.launch();
    first.wait();
    second.wait();
  });
}

inline int run() {
  cu::Context a;
  Worker first, second;
  cu::Context b;
  Worker other;
  const auto alone = [&] {
    first.launch();
    first.wait();
  };
  alone();  // loads the kernel
  other.launch();
  other.wait();
  std::printf("one kernel                             | %5.1f ms\n", milliseconds(alone));
  std::printf("two kernels, two streams of one context| %5.1f ms\n", together(first, second));
  std::printf("two kernels, two contexts              | %5.1f ms\n", together(first, other));
  return 0;
}

}  // namespace controls
