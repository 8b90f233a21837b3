// Checks the learner's process() (exercise of 03-memory/15-out-of-core).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

struct Buffers {
  std::vector<void*> host;
  std::vector<CUdeviceptr> device;
};

struct Streams {
  CUstream copies, kernels;
};

void process(CUfunction add_up, CUdeviceptr sum, int pieces, int n, const std::function<void(int, void*)>& read,
             const Buffers& buffers, const Streams& streams);

namespace {

using namespace std::chrono_literals;
constexpr int kPieces = 12, kNumbers = 10000, kHost = 2, kDevice = 3;
constexpr auto kStage = 40ms;  // in the test of the speed, a read and a kernel take so long

// Holds up a stream until it is opened, or for two seconds, so that a process() that waits is detected and does not
// hang.
struct Gate {
  std::atomic<bool> open{false}, timed_out{false};
};

void CUDA_CB wait_at(void* gate_of_a_stream) {
  Gate& gate = *static_cast<Gate*>(gate_of_a_stream);
  for (int i = 0; i < 2000 && !gate.open; ++i) std::this_thread::sleep_for(1ms);
  if (!gate.open) gate.timed_out = true;
}

void CUDA_CB sleep_a_stage(void*) { std::this_thread::sleep_for(kStage); }

int events = 0;                        // that process() has created and not destroyed
int copies = 0;                        // that it has enqueued
bool slow_kernels = false;             // each takes as long as a stage
Gate* before_second_copy = nullptr;    // this gate is put before the second copy, in its stream

unsigned value(int piece) { return 1u << piece; }

struct Pipeline : cu::Primary {
  cu::Module module{cu::image("kernels.ptx")};
  CUfunction add_up = module.function("add_up");
  cu::Pinned host{kHost * kNumbers * sizeof(unsigned)}, seen{8};
  cu::Memory device_memory{kDevice * kNumbers * sizeof(unsigned)}, sum{8};
  cu::Stream copying, computing, watching;
  Buffers buffers;
  Gate gate;
  std::atomic<int> reads{0};

  Pipeline() {
    for (int i = 0; i < kHost; ++i) buffers.host.push_back(host.as<unsigned>() + i * kNumbers);
    for (int i = 0; i < kDevice; ++i) buffers.device.push_back(device_memory.address + i * kNumbers * sizeof(unsigned));
    CU_CHECK(cuMemsetD8(sum.address, 0, 8));
    CU_CHECK(cuCtxSynchronize());
    copies = 0;
  }
  ~Pipeline() {
    before_second_copy = nullptr;
    slow_kernels = false;
    gate.open = true;
    CU_REPORT(cuCtxSynchronize());
  }
  void hold(const cu::Stream& stream) { CU_CHECK(cuLaunchHostFunc(stream.handle, wait_at, &gate)); }
  void run(int pieces = kPieces) {
    process(add_up, sum.address, pieces, kNumbers,
            [this](int piece, void* to) {
              std::fill_n(static_cast<unsigned*>(to), kNumbers, value(piece));
              ++reads;
            },
            buffers, {copying.handle, computing.handle});
  }
  // Runs process() on another thread, opens the gate when `look` has returned, and passes an exception on.
  void run_beside(const std::function<void()>& look) {
    auto done = std::async(std::launch::async, [this] {
      const cu::Current here(handle);
      run();
    });
    look();
    gate.open = true;
    done.get();
  }
  // Waits until no piece has been read for a fifth of a second, at most for a second. Returns how many there are.
  int reads_in_the_end() {
    int before = -1;
    for (int i = 0; i < 5 && before != reads; ++i) {
      before = reads;
      std::this_thread::sleep_for(200ms);
    }
    return reads;
  }
  unsigned long long look(CUdeviceptr address, std::size_t bytes) {
    *seen.as<unsigned long long>() = 0;
    CU_CHECK(DRIVERS(cuMemcpyDtoHAsync)(seen.address, address, bytes, watching.handle));
    CU_CHECK(cuStreamSynchronize(watching.handle));
    return *seen.as<unsigned long long>();
  }
  // Waits for the device.
  bool sum_is_right(int pieces = kPieces) {
    gate.open = true;
    CU_CHECK(cuCtxSynchronize());
    return look(sum.address, 8) == kNumbers * ((1ull << pieces) - 1);
  }
};

}  // namespace

CUresult cuEventCreate(CUevent* event, unsigned int flags) {
  if (Refusal::meets("cuEventCreate")) return kRefused;
  ++events;
  return DRIVERS(cuEventCreate)(event, flags);
}

CUresult cuEventDestroy(CUevent event) {
  --events;
  return DRIVERS(cuEventDestroy)(event);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  if (Refusal::meets("cuMemcpyHtoDAsync")) return kRefused;
  if (++copies == 2 && before_second_copy != nullptr) CU_CHECK(cuLaunchHostFunc(stream, wait_at, before_second_copy));
  return DRIVERS(cuMemcpyHtoDAsync)(to, from, bytes, stream);
}

CUresult cuLaunchKernel(CUfunction kernel, unsigned int blocks_x, unsigned int blocks_y, unsigned int blocks_z,
                        unsigned int threads_x, unsigned int threads_y, unsigned int threads_z,
                        unsigned int shared_bytes, CUstream stream, void** arguments, void** extra) {
  if (Refusal::meets("cuLaunchKernel")) return kRefused;
  const CUresult result = DRIVERS(cuLaunchKernel)(kernel, blocks_x, blocks_y, blocks_z, threads_x, threads_y, threads_z,
                                                  shared_bytes, stream, arguments, extra);
  if (slow_kernels) CU_CHECK(cuLaunchHostFunc(stream, sleep_a_stage, nullptr));
  return result;
}

MAY_BE_REFUSED(cuEventRecord, (CUevent event, CUstream stream), (event, stream))
MAY_BE_REFUSED(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags), (stream, event, flags))

TEST_CASE_METHOD(Pipeline, "all numbers of all pieces are added up") {
  run();
  CHECK(sum_is_right());
  CHECK(reads == kPieces);
}

TEST_CASE_METHOD(Pipeline, "one buffer of each kind is enough") {
  buffers.host.resize(1);
  buffers.device.resize(1);
  run();
  CHECK(sum_is_right());
}

TEST_CASE_METHOD(Pipeline, "there may be fewer pieces than buffers, and none at all") {
  run(0);
  CHECK(sum_is_right(0));
  run(1);
  CHECK(sum_is_right(1));
}

TEST_CASE_METHOD(Pipeline, "no piece is read into a host buffer that has not been copied yet") {
  hold(copying);
  run_beside([&] { CHECK(reads_in_the_end() <= kHost); });
  CHECK(sum_is_right());
}

TEST_CASE_METHOD(Pipeline, "pieces are read while the copies are held up, as long as a host buffer is free") {
  hold(copying);
  run_beside([&] { CHECK(reads_in_the_end() >= kHost); });
}

TEST_CASE_METHOD(Pipeline, "no piece is copied into a device buffer whose kernel has not finished") {
  hold(computing);
  run_beside([&] {
    reads_in_the_end();
    for (int i = 0; i < kDevice; ++i) {
      CAPTURE(i);
      CHECK(look(buffers.device[i], sizeof(unsigned)) == value(i));
    }
  });
  CHECK(sum_is_right());
}

TEST_CASE_METHOD(Pipeline, "while the kernels are held up, all buffers of both kinds are filled") {
  hold(computing);
  run_beside([&] { CHECK(reads_in_the_end() == kHost + kDevice); });
}

TEST_CASE_METHOD(Pipeline, "no kernel begins before its copy has finished") {
  before_second_copy = &gate;
  CU_CHECK(cuMemsetD8(device_memory.address, 0xff, kDevice * kNumbers * sizeof(unsigned)));
  CU_CHECK(cuCtxSynchronize());  // the streams of the pipeline do not wait for the default stream
  run_beside([&] {
    reads_in_the_end();
    CHECK(look(sum.address, 8) == kNumbers * value(0));
  });
  CHECK(sum_is_right());
}

TEST_CASE_METHOD(Pipeline, "process returns while the last kernels are still to run") {
  hold(computing);
  run(kHost + kDevice);
  CHECK_FALSE(gate.timed_out.load());
  CHECK(sum_is_right(kHost + kDevice));
}

TEST_CASE_METHOD(Pipeline, "every event is destroyed, also if a read or a driver call fails") {
  const int before = events;
  run();
  CHECK(events == before);
  const auto stop = [](int piece, void*) {
    if (piece == 3) throw std::runtime_error("the disk has failed");
  };
  const Streams streams{copying.handle, computing.handle};
  CHECK_THROWS_AS(process(add_up, sum.address, kPieces, kNumbers, stop, buffers, streams), std::runtime_error);
  CHECK(events == before);
  CHECK(ignored_failure({"cuEventCreate", "cuMemcpyHtoDAsync", "cuEventRecord", "cuStreamWaitEvent", "cuLaunchKernel"},
                        [this] { run(); }) == "");
  CHECK(events == before);
}

TEST_CASE_METHOD(Pipeline, "the pipeline reaches 85 % of the speed of its slowest stage") {
  constexpr int kMany = 20;
  slow_kernels = true;
  auto best = std::chrono::steady_clock::duration::max();
  for (int i = 0; i < 3 && best > kMany * kStage / 0.85; ++i) {
    const auto start = std::chrono::steady_clock::now();
    process(add_up, sum.address, kMany, kNumbers, [](int, void*) { std::this_thread::sleep_for(kStage); }, buffers,
            {copying.handle, computing.handle});
    CU_CHECK(cuStreamSynchronize(computing.handle));
    best = std::min(best, std::chrono::steady_clock::now() - start);
  }
  INFO("20 pieces, whose reads and kernels take 40 ms each");
  CHECK(best / 1ms <= kMany * kStage / 1ms / 0.85);
}
