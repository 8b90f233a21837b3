// The neighbor: keeps the GPU busy with kernels that take about 20 ms each, in this process or in one of its own.
#pragma once
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "common/processes.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

constexpr unsigned kThreads = 256;  // of a block

inline unsigned multiprocessors(CUdevice device) {
  int count;
  CU_THROW(cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  return static_cast<unsigned>(count);
}

inline double free_mebibytes() {
  std::size_t free, total;
  CU_THROW(cuMemGetInfo(&free, &total));
  return static_cast<double>(free) / (1 << 20);
}

// A launch of work(), with as many rounds as take the wanted time when nothing else runs.
struct Kernel {
  CUfunction function;
  unsigned blocks;
  int rounds = 64;

  Kernel(CUfunction work, unsigned of_blocks, double milliseconds, CUstream stream)
      : function(work), blocks(of_blocks) {
    for (int i = 0; i < 12; ++i) {
      const double took = 1e3 * cu::median_seconds([&] { launch(stream), CU_THROW(cuStreamSynchronize(stream)); }, 3);
      if (took >= 0.9 * milliseconds && took <= 1.1 * milliseconds) break;
      rounds = std::max(1, static_cast<int>(rounds * std::min(milliseconds / took, 16.0)));
    }
  }
  void launch(CUstream stream) const {
    CUdeviceptr nowhere = 0;
    int count = rounds;
    void* arguments[] = {&nowhere, &count};
    CU_THROW(cuLaunchKernel(function, blocks, 1, 1, kThreads, 1, 1, 0, stream, arguments, nullptr));
  }
};

class Neighbor {
 public:
  double mebibytes = 0;  // of device memory that it costs
  virtual ~Neighbor() = default;
  virtual void start() = 0;
  virtual double stop() = 0;  // returns its kernels per second
  virtual void fault() = 0;   // returns when the device has detected it
};

// Launches kernels from a thread of this process. Two are in the stream at any time, so the GPU never waits for the
// host.
class InThisProcess : public Neighbor {
 public:
  // Each of the `waves` of blocks fills the given number of multiprocessors, and takes its share of the 20 ms.
  InThisProcess(const cu::Module& module, CUcontext context, CUstream stream, unsigned of_multiprocessors,
                unsigned waves)
      : module_(module),
        context_(context),
        stream_(stream),
        kernel_(module.function("work"), 8 * of_multiprocessors * waves, 20, stream) {}
  ~InThisProcess() override {
    if (thread_.joinable()) stop();
  }
  void start() override {
    running_ = true;
    thread_ = std::thread([this] { run(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  double stop() override {
    running_ = false;
    thread_.join();
    return rate_;
  }
  void fault() override {
    CUdeviceptr nowhere = 0;
    void* arguments[] = {&nowhere};
    cuLaunchKernel(module_.function("fault"), 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr);
    cuStreamSynchronize(stream_);  // fails, as it is meant to
  }

 private:
  void run() try {
    const cu::Current current(context_);
    const cu::Event done[2];
    const auto begin = std::chrono::steady_clock::now();
    int launched = 0;
    for (; running_; ++launched) {
      CU_THROW(cuEventSynchronize(done[launched % 2].handle));
      kernel_.launch(stream_);
      CU_THROW(cuEventRecord(done[launched % 2].handle, stream_));
    }
    CU_THROW(cuStreamSynchronize(stream_));
    rate_ = launched / std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  } catch (const cu::Error& error) {
    std::fprintf(stderr, "the neighbor: %s\n", error.what());
  }

  const cu::Module& module_;
  CUcontext context_;
  CUstream stream_;
  Kernel kernel_;
  std::atomic<bool> running_{false};
  std::thread thread_;
  double rate_ = 0;
};

// The same in a process of its own, which follows the commands that it receives through a socket. Create it before the
// first driver call.
class InAnotherProcess : public Neighbor {
 public:
  explicit InAnotherProcess(unsigned waves) : process_([=](int socket) { serve(socket, waves); }) {}
  // From here on, the neighbor's context exists. Call it after this process has a context, too.
  void connect() {
    const double before = free_mebibytes();
    command(kConnect);
    mebibytes = before - free_mebibytes();
  }
  void start() override { command(kStart); }
  double stop() override { return command(kStop); }
  void fault() override {
    command(kFault);
    process_.wait();
  }

 private:
  enum Command { kConnect, kStart, kStop, kFault };

  double command(Command wanted) {
    cu::send(process_.socket.number, wanted);
    return cu::receive<double>(process_.socket.number);
  }
  static void serve(int socket, unsigned waves) {
    cu::receive<Command>(socket);
    const cu::Primary context;
    const cu::Module module(cu::image("kernels.ptx"));
    const cu::Stream stream;
    InThisProcess here(module, context.handle, stream.handle, multiprocessors(context.device), waves);
    for (double result = 0;;) {
      cu::send(socket, result);
      const Command wanted = cu::receive<Command>(socket);
      if (wanted == kStart) here.start();
      if (wanted == kStop) result = here.stop();
      if (wanted == kFault) {
        here.fault();
        cu::send(socket, result);
        _exit(0);  // the context cannot be used any more
      }
    }
  }

  cu::Process process_;
};
