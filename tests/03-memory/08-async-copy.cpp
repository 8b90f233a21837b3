// Self-check of 03-memory/08-async-copy: judges the learner's send().
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

struct Slot {
  void* pinned;
  CUevent free;
};

void send(Slot& slot, CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream);

namespace {

constexpr std::size_t kBytes = 1 << 20;
using Bytes = std::vector<char>;

void CUDA_CB sleep_a_while(void* over) {
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  *static_cast<std::atomic<bool>*>(over) = true;
}

// A context, a slot, a stream that has 100 ms of other work to do, and room on the device for two sends.
struct BusyStream : cu::Context {
  cu::Memory device{2 * kBytes};
  Slot slot{};
  CUstream stream = nullptr;
  std::atomic<bool> over{false};

  BusyStream() {
    CU_CHECK(cuMemHostAlloc(&slot.pinned, kBytes, 0));
    CU_CHECK(cuEventCreate(&slot.free, CU_EVENT_DISABLE_TIMING));
    CU_CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CU_CHECK(cuMemsetD8(device.address, 0, 2 * kBytes));
    CU_CHECK(cuCtxSynchronize());
    CU_CHECK(cuLaunchHostFunc(stream, sleep_a_while, &over));
  }
  ~BusyStream() {
    CU_REPORT(cuStreamSynchronize(stream));
    CU_REPORT(cuStreamDestroy(stream));
    CU_REPORT(cuEventDestroy(slot.free));
    CU_REPORT(cuMemFreeHost(slot.pinned));
  }
  // What the device holds once the stream is done.
  Bytes arrived(std::size_t offset = 0) {
    Bytes bytes(kBytes);
    CU_CHECK(cuStreamSynchronize(stream));
    CU_CHECK(cuMemcpyDtoH(bytes.data(), device.address + offset, kBytes));
    return bytes;
  }
};

std::string asked_for;  // what the answer has put into streams, meanwhile: "copy record "

}  // namespace

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  if (Refusal::meets("cuMemcpyHtoDAsync")) return kRefused;
  asked_for += "copy ";
  return DRIVERS(cuMemcpyHtoDAsync)(to, from, bytes, stream);
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  if (Refusal::meets("cuEventRecord")) return kRefused;
  asked_for += "record ";
  return DRIVERS(cuEventRecord)(event, stream);
}

MAY_BE_REFUSED(cuEventSynchronize, (CUevent event), (event))
MAY_BE_REFUSED(cuEventQuery, (CUevent event), (event))

TEST_CASE_METHOD(BusyStream, "a megabyte arrives") {
  const Bytes sent(kBytes, 'a');
  send(slot, device.address, sent.data(), kBytes, stream);
  CHECK((arrived() == sent));
}

TEST_CASE_METHOD(BusyStream, "send returns while the stream is still busy") {
  const Bytes sent(kBytes, 'b');
  send(slot, device.address, sent.data(), kBytes, stream);
  CHECK_FALSE(over.load());
}

TEST_CASE_METHOD(BusyStream, "the array may be changed at once, pinned or not") {
  std::memset(slot.pinned, 0, kBytes);
  void* pinned = nullptr;
  CU_CHECK(cuMemHostAlloc(&pinned, kBytes, 0));
  std::memset(pinned, 'c', kBytes);
  send(slot, device.address, pinned, kBytes, stream);
  std::memset(pinned, 'x', kBytes);
  CHECK((arrived() == Bytes(kBytes, 'c')));
  CU_CHECK(cuMemFreeHost(pinned));
}

TEST_CASE_METHOD(BusyStream, "two sends through one slot both arrive") {
  const Bytes first(kBytes, 'd'), second(kBytes, 'e');
  send(slot, device.address, first.data(), kBytes, stream);
  send(slot, device.address + kBytes, second.data(), kBytes, stream);
  CHECK((arrived() == first));
  CHECK((arrived(kBytes) == second));
}

TEST_CASE_METHOD(BusyStream, "two sends in two streams through one slot both arrive") {
  const Bytes first(kBytes, 'd'), second(kBytes, 'e');
  cu::Stream idle;
  send(slot, device.address, first.data(), kBytes, stream);
  send(slot, device.address + kBytes, second.data(), kBytes, idle.handle);
  CU_CHECK(cuStreamSynchronize(idle.handle));
  CHECK((arrived() == first));
  CHECK((arrived(kBytes) == second));
}

TEST_CASE_METHOD(BusyStream, "the copy takes its turn in the stream") {
  const Bytes sent(kBytes, 'f');
  CU_CHECK(cuMemsetD8Async(device.address, 'm', kBytes, stream));
  send(slot, device.address, sent.data(), kBytes, stream);
  CHECK((arrived() == sent));
}

TEST_CASE_METHOD(BusyStream, "what the driver refuses is thrown") {
  const Bytes sent(kBytes, 'g');
  CHECK_THROWS_AS(send(slot, device.address + kBytes + 1, sent.data(), kBytes, stream), cu::Error);
}

// If it were recorded before, it would not say when the slot is free.
TEST_CASE_METHOD(BusyStream, "the event is recorded behind the copy") {
  const Bytes sent(kBytes, 'h');
  asked_for.clear();
  send(slot, device.address, sent.data(), kBytes, stream);
  CAPTURE(asked_for);
  REQUIRE(asked_for.find("copy") != std::string::npos);
  CHECK(asked_for.rfind("record") + 1 > asked_for.rfind("copy") + 1);  // npos + 1 is 0
}

TEST_CASE_METHOD(BusyStream, "each call is checked: what the driver refuses is thrown") {
  const Bytes sent(kBytes, 'i');
  const auto answer = [&] { send(slot, device.address, sent.data(), kBytes, stream); };
  CHECK(goes_on({"cuEventSynchronize", "cuEventQuery", "cuMemcpyHtoDAsync", "cuEventRecord"}, answer) == "");
}

// Who made another one has to destroy the old one, and did they? Others may be waiting for that.
TEST_CASE_METHOD(BusyStream, "the slot keeps its event") {
  const CUevent its_own = slot.free;
  const Bytes sent(kBytes, 'j');
  send(slot, device.address, sent.data(), kBytes, stream);
  CHECK(slot.free == its_own);
}
