// Self-check of 03-memory/10-overlap: judges the learner's process().
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"
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

int events = 0;                      // that the answer has made and not destroyed, meanwhile
int copies_in = 0;                   // that it has asked for
Gate* before_second_copy = nullptr;  // stands there, in the stream of that copy

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
    before_second_copy = nullptr;
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
  if (++copies_in == 2 && before_second_copy != nullptr) {
    CU_CHECK(cuLaunchHostFunc(stream, wait_at, before_second_copy));
  }
  return DRIVERS(cuMemcpyHtoDAsync)(to, from, bytes, stream);
}

MAY_BE_REFUSED(cuEventRecord, (CUevent event, CUstream stream), (event, stream))
MAY_BE_REFUSED(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags), (stream, event, flags))
MAY_BE_REFUSED(cuLaunchKernel,
               (CUfunction kernel, unsigned int blocks_x, unsigned int blocks_y, unsigned int blocks_z,
                unsigned int threads_x, unsigned int threads_y, unsigned int threads_z, unsigned int shared_bytes,
                CUstream stream, void** arguments, void** extra),
               (kernel, blocks_x, blocks_y, blocks_z, threads_x, threads_y, threads_z, shared_bytes, stream, arguments,
                extra))
MAY_BE_REFUSED(cuMemcpyDtoHAsync, (void* to, CUdeviceptr from, std::size_t bytes, CUstream stream),
               (to, from, bytes, stream))

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

TEST_CASE_METHOD(Pipeline, "the first piece comes back while the copies of the others are held up") {
  before_second_copy = &gate;
  copies_in = 0;
  run();
  REQUIRE(copies_in >= kPieces);
  const auto last_of_first = [&] { return static_cast<volatile float*>(host.as<float>())[kFloats - 1]; };
  const float expected = (kFloats - 1) * 0.5f + 1.0f;
  for (int i = 0; i < 1000 && last_of_first() != expected; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(last_of_first() == expected);
  CHECK_FALSE(gate.waited_in_vain.load());
  CHECK(numbers() == kAllRight);
}

TEST_CASE_METHOD(Pipeline, "no event stays behind") {
  events = 0;
  run();
  CHECK(events == 0);
  CHECK(numbers() == kAllRight);
}

TEST_CASE_METHOD(Pipeline, "each call is checked: what the driver refuses is thrown, and no event stays behind") {
  events = 0;
  CHECK(goes_on({"cuEventCreate", "cuMemcpyHtoDAsync", "cuEventRecord", "cuStreamWaitEvent", "cuLaunchKernel",
                 "cuMemcpyDtoHAsync"},
                [&] { run(); }) == "");
  CHECK(events == 0);
}
