// Checks the learner's download() (exercise of 03-memory/09-staging).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
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

// A moment when the host waits: how many copies it has enqueued, and how many of them it knows to be complete.
struct Wait {
  int enqueued, known;
};

int copies = 0;                   // enqueued so far, into the slots
int copies_past_slots = 0;        // into other memory
int known = 0;                    // the host knows that this many copies are complete
std::map<CUevent, int> followed;  // how many copies had been enqueued when the event was recorded
std::vector<Wait> waits;
const Ring* used = nullptr;

bool in_a_slot(const void* to, std::size_t bytes) {
  for (const Slot& slot : used->slots) {
    const auto offset = reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(slot.pinned);
    if (offset <= used->size && bytes <= used->size - offset) return true;
  }
  return false;
}

// The host enqueues nothing until the first `copies_over` copies are complete.
void wait_for(int copies_over) {
  if (copies_over <= known) return;
  waits.push_back({copies, known});
}

void note_result(CUresult result, int copies_over) {
  if (result == CUDA_SUCCESS) known = std::max(known, copies_over);
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
    copies = copies_past_slots = known = 0;
    followed.clear();
    waits.clear();
    used = &ring;
  }
  ~Download() {
    CU_REPORT(cuCtxSynchronize());
    for (const Slot& slot : ring.slots) {
      CU_REPORT(cuEventDestroy(slot.arrived));
      CU_REPORT(cuMemFreeHost(slot.pinned));
    }
  }
  // Whether `bytes` bytes arrive, from byte 1 on, and the byte after them is unchanged.
  bool arrive(std::size_t bytes) {
    std::vector<unsigned char> got(bytes + 1, 0);
    download(got.data(), device.address + 1, bytes, ring);
    return std::equal(got.begin(), got.end() - 1, sent.begin() + 1) && got.back() == 0;
  }
};

}  // namespace

// The calls of download() are intercepted here.
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  ++(used != nullptr && in_a_slot(to, bytes) ? copies : copies_past_slots);
  return DRIVERS(cuMemcpyDtoHAsync)(to, from, bytes, stream);
}

CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  ++copies_past_slots;
  return DRIVERS(cuMemcpyDtoH)(to, from, bytes);
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  followed[event] = copies;
  return DRIVERS(cuEventRecord)(event, stream);
}

CUresult cuEventSynchronize(CUevent event) {
  wait_for(followed[event]);
  const CUresult result = DRIVERS(cuEventSynchronize)(event);
  note_result(result, followed[event]);
  return result;
}

// Some solutions poll.
CUresult cuEventQuery(CUevent event) {
  wait_for(followed[event]);
  const CUresult result = DRIVERS(cuEventQuery)(event);
  note_result(result, followed[event]);
  return result;
}

CUresult cuStreamSynchronize(CUstream stream) {
  wait_for(copies);
  const CUresult result = DRIVERS(cuStreamSynchronize)(stream);
  note_result(result, copies);
  return result;
}

CUresult cuCtxSynchronize() {
  wait_for(copies);
  const CUresult result = DRIVERS(cuCtxSynchronize)();
  note_result(result, copies);
  return result;
}

TEST_CASE_METHOD(Download, "more whole pieces are copied than there are slots") { CHECK(arrive(8 * kSize)); }

TEST_CASE_METHOD(Download, "a shorter last piece is copied, and nothing past its end is changed") {
  CHECK(arrive(4 * kSize + 12345));
  CHECK(arrive(kSize - 1));
  CHECK(arrive(1));
}

TEST_CASE_METHOD(Download, "zero bytes are allowed, and nothing happens") { CHECK(arrive(0)); }

TEST_CASE_METHOD(Download, "the copies are made in stream order, even if the stream is busy") {
  CU_CHECK(cuLaunchHostFunc(stream.handle, sleep_a_while, nullptr));
  CU_CHECK(cuMemsetD8Async(device.address, 0xee, kMost, stream.handle));
  std::vector<unsigned char> got(8 * kSize);
  download(got.data(), device.address, got.size(), ring);
  CHECK((got == std::vector<unsigned char>(8 * kSize, 0xee)));
}

TEST_CASE_METHOD(Download, "a copy into every slot is enqueued before the host waits for the first") {
  CHECK(arrive(8 * kSize));
  REQUIRE_FALSE(waits.empty());
  CHECK(waits.front().enqueued == static_cast<int>(kSlots));
}

TEST_CASE_METHOD(Download, "an emptied slot gets its next copy before the host waits again") {
  constexpr int kPieces = 8;
  CHECK(arrive(kPieces * kSize));
  for (const Wait& wait : waits) {
    const int under_way = wait.enqueued - wait.known, possible = std::min<int>(kSlots, kPieces - wait.known);
    INFO("While the host waits for the piece after the first " << wait.known << " of " << kPieces << ", " << under_way
                                                               << " copies are in progress; there could be "
                                                               << possible);
    REQUIRE(under_way >= possible);
  }
}

TEST_CASE_METHOD(Download, "the device copies only into the slots") {
  CHECK(arrive(8 * kSize));
  CHECK(copies_past_slots == 0);
  CHECK(copies == 8);
}

TEST_CASE_METHOD(Download, "a driver error is thrown") {
  std::vector<unsigned char> got(kMost);
  CHECK_THROWS_AS(download(got.data(), device.address + kSize, kMost, ring), cu::Error);
}
