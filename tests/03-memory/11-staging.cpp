// Self-check of 03-memory/11-staging: judges the learner's download().
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

struct Slot {
  void* pinned;
  CUevent arrived;
};

struct Ring {
  std::vector<Slot> slots;
  std::size_t size;
  CUstream stream;
};

void download(void* to, CUdeviceptr from, std::size_t bytes, Ring& ring);

namespace {

constexpr std::size_t kSlots = 3, kSize = 100000, kMost = 10 * kSize;

int copies = 0;             // asked for so far, into pinned memory
int copies_past_slots = 0;  // into other memory
int before_first_wait = 0;  // copies that had been asked for when the host first waited

void waits() {
  if (before_first_wait == 0) before_first_wait = copies;
}

void CUDA_CB sleep_a_while(void*) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

struct Download : cu::Context {
  cu::Memory device{kMost};
  cu::Stream stream;
  Ring ring{{}, kSize, stream.handle};
  std::vector<unsigned char> sent = std::vector<unsigned char>(kMost);

  Download() {
    for (std::size_t i = 0; i < kSlots; ++i) {
      Slot slot{};
      CU_CHECK(cuMemHostAlloc(&slot.pinned, kSize, 0));
      CU_CHECK(cuEventCreate(&slot.arrived, CU_EVENT_DISABLE_TIMING));
      ring.slots.push_back(slot);
    }
    for (std::size_t i = 0; i < kMost; ++i) sent[i] = static_cast<unsigned char>(1 + i % 251);
    CU_CHECK(cuMemcpyHtoD(device.address, sent.data(), kMost));
    CU_CHECK(cuCtxSynchronize());
    copies = copies_past_slots = before_first_wait = 0;
  }
  ~Download() {
    CU_REPORT(cuCtxSynchronize());
    for (const Slot& slot : ring.slots) {
      CU_REPORT(cuEventDestroy(slot.arrived));
      CU_REPORT(cuMemFreeHost(slot.pinned));
    }
  }
  // Whether so many bytes arrive, from byte 1 on, and the byte behind them is not touched.
  bool arrive(std::size_t bytes) {
    std::vector<unsigned char> got(bytes + 1, 0);
    download(got.data(), device.address + 1, bytes, ring);
    return std::equal(got.begin(), got.end() - 1, sent.begin() + 1) && got.back() == 0;
  }
};

}  // namespace

// What the answer asks for, and when it waits.
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  unsigned int type = 0;
  const auto asked = reinterpret_cast<CUdeviceptr>(to);
  const bool pinned = cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, asked) == CUDA_SUCCESS;
  ++(pinned ? copies : copies_past_slots);
  return DRIVERS(cuMemcpyDtoHAsync)(to, from, bytes, stream);
}

CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  ++copies_past_slots;
  return DRIVERS(cuMemcpyDtoH)(to, from, bytes);
}

CUresult cuEventSynchronize(CUevent event) {
  waits();
  return DRIVERS(cuEventSynchronize)(event);
}

CUresult cuStreamSynchronize(CUstream stream) {
  waits();
  return DRIVERS(cuStreamSynchronize)(stream);
}

TEST_CASE_METHOD(Download, "whole pieces arrive, more than there are slots") { CHECK(arrive(8 * kSize)); }

TEST_CASE_METHOD(Download, "a last piece that is shorter arrives, and nothing behind it") {
  CHECK(arrive(4 * kSize + 12345));
  CHECK(arrive(kSize - 1));
  CHECK(arrive(1));
}

TEST_CASE_METHOD(Download, "no bytes: nothing happens") { CHECK(arrive(0)); }

TEST_CASE_METHOD(Download, "the bytes are those of the stream's turn, even if it is busy") {
  CU_CHECK(cuLaunchHostFunc(stream.handle, sleep_a_while, nullptr));
  CU_CHECK(cuMemsetD8Async(device.address, 0xee, kMost, stream.handle));
  std::vector<unsigned char> got(8 * kSize);
  download(got.data(), device.address, got.size(), ring);
  CHECK((got == std::vector<unsigned char>(8 * kSize, 0xee)));
}

TEST_CASE_METHOD(Download, "all slots are under way before the host waits for the first") {
  CHECK(arrive(8 * kSize));
  CHECK(before_first_wait == static_cast<int>(kSlots));
}

TEST_CASE_METHOD(Download, "copies go into the slots only") {
  CHECK(arrive(8 * kSize));
  CHECK(copies_past_slots == 0);
  CHECK(copies == 8);
}

TEST_CASE_METHOD(Download, "what the driver refuses is thrown") {
  std::vector<unsigned char> got(kMost);
  CHECK_THROWS_AS(download(got.data(), device.address + kSize, kMost, ring), cu::Error);
}
