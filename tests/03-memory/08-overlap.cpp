// Checks the learner's process() (exercise of 03-memory/08-overlap).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"
#include "tests/numbers.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

struct Streams {
  CUstream in, work, out;
};

void process(CUfunction kernel, float* host, int pieces, int n, const std::vector<CUdeviceptr>& buffers,
             const Streams& streams);

namespace {

constexpr int kPieces = 8, kBuffers = 3, kFloats = 10000, kAll = kPieces * kFloats;

// Holds up a stream until it is opened, or for two seconds, so that a process() that waits is detected and does not
// hang.
struct Gate {
  std::atomic<bool> open{false}, timed_out{false};
};

void CUDA_CB wait_at(void* gate_of_a_stream) {
  Gate& gate = *static_cast<Gate*>(gate_of_a_stream);
  for (int i = 0; i < 2000 && !gate.open; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (!gate.open) gate.timed_out = true;
}

int events = 0;                          // that process() has created and not destroyed
int copies_in = 0, copies_out = 0;       // that it has enqueued
Gate* before_second_copy_in = nullptr;   // this gate is put before the second copy in, in its stream
Gate* before_second_copy_out = nullptr;  // the same for copies out

float result(int i) { return static_cast<float>(i) * 0.5f + 1.0f; }

struct Pipeline : cu::Context {
  cu::Module module{cu::image("kernels.ptx")};
  CUfunction kernel = module.function("work");  // x * 0.5 + 1
  cu::Pinned host{kAll * sizeof(float)}, seen{sizeof(float)};
  cu::Memory device{kBuffers * kFloats * sizeof(float)};
  std::vector<CUdeviceptr> buffers;
  cu::Stream in, work, out, watching;
  Gate gate;

  Pipeline() {
    for (int i = 0; i < kAll; ++i) host.as<float>()[i] = static_cast<float>(i);
    for (int k = 0; k < kBuffers; ++k) buffers.push_back(device.address + k * kFloats * sizeof(float));
    CU_CHECK(cuMemsetD8(device.address, 0, kBuffers * kFloats * sizeof(float)));
    CU_CHECK(cuCtxSynchronize());
    copies_in = copies_out = 0;
  }
  ~Pipeline() {
    before_second_copy_in = before_second_copy_out = nullptr;
    gate.open = true;
    CU_REPORT(cuCtxSynchronize());
  }
  void hold(const cu::Stream& stream) { CU_CHECK(cuLaunchHostFunc(stream.handle, wait_at, &gate)); }
  void run() { process(kernel, host.as<float>(), kPieces, kFloats, buffers, {in.handle, work.handle, out.handle}); }
  // Waits for the device, and describes the first wrong number, if there is one.
  std::string numbers() {
    gate.open = true;
    CU_CHECK(cuCtxSynchronize());
    return judged("host", host.as<float>(), kAll, result);
  }
  // Whether a stream finishes within a fifth of a second.
  bool ends(const cu::Stream& stream) {
    for (int i = 0; i < 200 && cuStreamQuery(stream.handle) == CUDA_ERROR_NOT_READY; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return cuStreamQuery(stream.handle) == CUDA_SUCCESS;
  }
  // Whether the last float of a buffer becomes `expected` within a second.
  bool becomes(int buffer, float expected) {
    for (int i = 0; i < 1000; ++i) {
      const CUdeviceptr last = buffers[buffer] + (kFloats - 1) * sizeof(float);
      CU_CHECK(DRIVERS(cuMemcpyDtoHAsync)(seen.address, last, sizeof(float), watching.handle));
      CU_CHECK(cuStreamSynchronize(watching.handle));
      if (seen.as<float>()[0] == expected) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
};

int last_of(int piece) { return (piece + 1) * kFloats - 1; }

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
  if (++copies_in == 2 && before_second_copy_in != nullptr) {
    CU_CHECK(cuLaunchHostFunc(stream, wait_at, before_second_copy_in));
  }
  return DRIVERS(cuMemcpyHtoDAsync)(to, from, bytes, stream);
}

CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  if (Refusal::meets("cuMemcpyDtoHAsync")) return kRefused;
  if (++copies_out == 2 && before_second_copy_out != nullptr) {
    CU_CHECK(cuLaunchHostFunc(stream, wait_at, before_second_copy_out));
  }
  return DRIVERS(cuMemcpyDtoHAsync)(to, from, bytes, stream);
}

MAY_BE_REFUSED(cuEventRecord, (CUevent event, CUstream stream), (event, stream))
MAY_BE_REFUSED(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags), (stream, event, flags))
MAY_BE_REFUSED(cuLaunchKernel,
               (CUfunction kernel, unsigned int blocks_x, unsigned int blocks_y, unsigned int blocks_z,
                unsigned int threads_x, unsigned int threads_y, unsigned int threads_z, unsigned int shared_bytes,
                CUstream stream, void** arguments, void** extra),
               (kernel, blocks_x, blocks_y, blocks_z, threads_x, threads_y, threads_z, shared_bytes, stream, arguments,
                extra))

TEST_CASE_METHOD(Pipeline, "every number is multiplied by 0.5 and increased by 1") {
  run();
  CHECK(numbers() == kAllRight);
}

TEST_CASE_METHOD(Pipeline, "a single buffer is enough for any number of pieces") {
  buffers.resize(1);
  run();
  CHECK(numbers() == kAllRight);
}

TEST_CASE_METHOD(Pipeline, "process returns while the device is busy") {
  hold(in);
  run();
  CHECK_FALSE(gate.timed_out.load());
  CHECK(numbers() == kAllRight);
}

TEST_CASE_METHOD(Pipeline, "no kernel begins before its copy in has finished") {
  hold(in);
  run();
  CHECK_FALSE(ends(work));
  CHECK(numbers() == kAllRight);
}

TEST_CASE_METHOD(Pipeline, "no copy out begins before its kernel has finished") {
  hold(work);
  run();
  CHECK_FALSE(ends(out));
  CHECK(numbers() == kAllRight);
}

TEST_CASE_METHOD(Pipeline, "no copy in overwrites a buffer before its result has been copied out") {
  hold(out);
  run();
  CHECK_FALSE(ends(in));
  CHECK(numbers() == kAllRight);
}

TEST_CASE_METHOD(Pipeline, "copies in continue while the kernels are held up, as long as a buffer is free") {
  hold(work);
  run();
  CHECK(becomes(kBuffers - 1, static_cast<float>(last_of(kBuffers - 1))));
  CHECK_FALSE(gate.timed_out.load());
  CHECK(numbers() == kAllRight);
}

TEST_CASE_METHOD(Pipeline, "kernels continue while the copies out are held up, as long as a buffer is filled") {
  hold(out);
  run();
  CHECK(becomes(kBuffers - 1, result(last_of(kBuffers - 1))));
  CHECK_FALSE(gate.timed_out.load());
  CHECK(numbers() == kAllRight);
}

TEST_CASE_METHOD(Pipeline, "a copy in waits for the copy out of its own buffer and for no other") {
  before_second_copy_out = &gate;
  run();
  REQUIRE(copies_out >= kPieces);
  CHECK(becomes(0, result(last_of(kBuffers))));  // of the buffer's second piece
  CHECK_FALSE(gate.timed_out.load());
  CHECK(numbers() == kAllRight);
}

TEST_CASE_METHOD(Pipeline, "a driver error is thrown") {
  kernel = nullptr;
  CHECK_THROWS_AS(run(), cu::Error);
}

TEST_CASE_METHOD(Pipeline, "the first piece is copied back while the copies of the others are held up") {
  before_second_copy_in = &gate;
  run();
  REQUIRE(copies_in >= kPieces);
  const auto last_of_first = [&] { return static_cast<volatile float*>(host.as<float>())[kFloats - 1]; };
  for (int i = 0; i < 1000 && last_of_first() != result(kFloats - 1); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(last_of_first() == result(kFloats - 1));
  CHECK_FALSE(gate.timed_out.load());
  CHECK(numbers() == kAllRight);
}

TEST_CASE_METHOD(Pipeline, "no event leaks") {
  events = 0;
  run();
  CHECK(events == 0);
  CHECK(numbers() == kAllRight);
}

TEST_CASE_METHOD(Pipeline, "each call is checked: a driver error is thrown, and no event leaks") {
  events = 0;
  CHECK(ignored_failure({"cuEventCreate", "cuMemcpyHtoDAsync", "cuEventRecord", "cuStreamWaitEvent", "cuLaunchKernel",
                         "cuMemcpyDtoHAsync"},
                        [&] { run(); }) == "");
  CHECK(events == 0);
}
