// Self-check of 03-memory/10-overlap: judges the learner's process().
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/numbers.hpp"

#include <atomic>
#include <chrono>
#include <thread>

struct Streams {
  CUstream in, work, out;
};

void process(CUfunction kernel, float* host, CUdeviceptr device, int pieces, int n, const Streams& streams);

namespace {

constexpr int kPieces = 8, kFloats = 10000, kAll = kPieces * kFloats;

// Keeps a stream busy until it is opened, or for two seconds, so that an answer that waits is found, not hung.
struct Gate {
  std::atomic<bool> open{false}, waited_in_vain{false};
};

void CUDA_CB wait_at(void* gate_of_a_stream) {
  Gate& gate = *static_cast<Gate*>(gate_of_a_stream);
  for (int i = 0; i < 2000 && !gate.open; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  gate.waited_in_vain = !gate.open;
}

struct Pipeline : cu::Context {
  cu::Module module{cu::image("kernels.ptx")};
  CUfunction kernel = module.function("work");  // x * 0.5 + 1
  cu::Pinned host{kAll * sizeof(float)};
  cu::Memory device{kAll * sizeof(float)};
  cu::Stream in, work, out;
  Gate gate;

  Pipeline() {
    for (int i = 0; i < kAll; ++i) host.as<float>()[i] = static_cast<float>(i);
    CU_CHECK(cuMemsetD8(device.address, 0, kAll * sizeof(float)));
    CU_CHECK(cuCtxSynchronize());
  }
  ~Pipeline() {
    gate.open = true;
    CU_REPORT(cuCtxSynchronize());
  }
  void hold(const cu::Stream& stream) { CU_CHECK(cuLaunchHostFunc(stream.handle, wait_at, &gate)); }
  void run() {
    process(kernel, host.as<float>(), device.address, kPieces, kFloats, {in.handle, work.handle, out.handle});
  }
  // Are all numbers x * 0.5 + 1 once everything is done? If not, which one is not.
  std::string numbers() {
    gate.open = true;
    CU_CHECK(cuCtxSynchronize());
    return judged("host", host.as<float>(), kAll, [](int i) { return static_cast<float>(i) * 0.5f + 1.0f; });
  }
  // Whether a stream is done within a fifth of a second.
  bool ends(const cu::Stream& stream) {
    for (int i = 0; i < 200 && cuStreamQuery(stream.handle) == CUDA_ERROR_NOT_READY; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return cuStreamQuery(stream.handle) == CUDA_SUCCESS;
  }
};

}  // namespace

TEST_CASE_METHOD(Pipeline, "all numbers come back, halved and one more") {
  run();
  CHECK(numbers() == kAllRight);
}

TEST_CASE_METHOD(Pipeline, "process returns while the device is busy") {
  hold(in);
  run();
  CHECK_FALSE(gate.waited_in_vain.load());
  CHECK(numbers() == kAllRight);
}

TEST_CASE_METHOD(Pipeline, "no kernel begins before its copy has come in") {
  hold(in);
  run();
  CHECK_FALSE(ends(work));
  CHECK(numbers() == kAllRight);
}

TEST_CASE_METHOD(Pipeline, "no copy goes out before its kernel is done") {
  hold(work);
  run();
  CHECK_FALSE(ends(out));
  CHECK(numbers() == kAllRight);
}

TEST_CASE_METHOD(Pipeline, "copies in go on while the kernels are held up") {
  hold(work);
  run();
  cu::Pinned last(sizeof(float));
  CU_CHECK(cuMemcpyDtoHAsync(last.address, device.address + (kAll - 1) * sizeof(float), sizeof(float), in.handle));
  CHECK(ends(in));
  CHECK(last.as<float>()[0] == static_cast<float>(kAll - 1));
  CHECK(numbers() == kAllRight);
}

TEST_CASE_METHOD(Pipeline, "kernels go on while the copies out are held up") {
  hold(out);
  run();
  CHECK(ends(work));
  CHECK(numbers() == kAllRight);
}

TEST_CASE_METHOD(Pipeline, "what the driver refuses is thrown") {
  kernel = nullptr;
  CHECK_THROWS_AS(run(), cu::Error);
}
