// Checks the learner's send() (exercise of 03-memory/06-async-copy).
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

void CUDA_CB sleep_100_ms(void* finished) {
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  *static_cast<std::atomic<bool>*>(finished) = true;
}

// A context, a slot, a stream that is busy for 100 ms, and device memory for two sends.
struct BusyStream : cu::Context {
  cu::Memory device{2 * kBytes};
  Slot slot{};
  CUstream stream = nullptr;
  std::atomic<bool> finished{false};

  BusyStream() {
    CU_CHECK(cuMemHostAlloc(&slot.pinned, kBytes, 0));
    CU_CHECK(cuEventCreate(&slot.free, CU_EVENT_DISABLE_TIMING));
    CU_CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CU_CHECK(cuMemsetD8(device.address, 0, 2 * kBytes));
    CU_CHECK(cuCtxSynchronize());
    CU_CHECK(cuLaunchHostFunc(stream, sleep_100_ms, &finished));
  }
  ~BusyStream() {
    CU_REPORT(cuStreamSynchronize(stream));
    CU_REPORT(cuStreamDestroy(stream));
    CU_REPORT(cuEventDestroy(slot.free));
    CU_REPORT(cuMemFreeHost(slot.pinned));
  }
  // The bytes on the device after the stream has finished.
  Bytes arrived(std::size_t offset = 0) {
    Bytes bytes(kBytes);
    CU_CHECK(cuStreamSynchronize(stream));
    CU_CHECK(cuMemcpyDtoH(bytes.data(), device.address + offset, kBytes));
    return bytes;
  }
};

std::string queued;  // the work that the solution has added to streams: "copy record "

}  // namespace

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  if (Refusal::meets("cuMemcpyHtoDAsync")) return kRefused;
  queued += "copy ";
  return DRIVERS(cuMemcpyHtoDAsync)(to, from, bytes, stream);
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  if (Refusal::meets("cuEventRecord")) return kRefused;
  queued += "record ";
  return DRIVERS(cuEventRecord)(event, stream);
}

MAY_BE_REFUSED(cuEventSynchronize, (CUevent event), (event))
MAY_BE_REFUSED(cuEventQuery, (CUevent event), (event))

TEST_CASE_METHOD(BusyStream, "a megabyte arrives on the device") {
  const Bytes sent(kBytes, 'a');
  send(slot, device.address, sent.data(), kBytes, stream);
  CHECK((arrived() == sent));
}

TEST_CASE_METHOD(BusyStream, "send returns while the stream is still busy") {
  const Bytes sent(kBytes, 'b');
  send(slot, device.address, sent.data(), kBytes, stream);
  CHECK_FALSE(finished.load());
}

TEST_CASE_METHOD(BusyStream, "the caller may change the array immediately, even if it is pinned") {
  std::memset(slot.pinned, 0, kBytes);
  void* pinned = nullptr;
  CU_CHECK(cuMemHostAlloc(&pinned, kBytes, 0));
  std::memset(pinned, 'c', kBytes);
  send(slot, device.address, pinned, kBytes, stream);
  std::memset(pinned, 'x', kBytes);
  CHECK((arrived() == Bytes(kBytes, 'c')));
  CU_CHECK(cuMemFreeHost(pinned));
}

TEST_CASE_METHOD(BusyStream, "two sends through the same slot both arrive") {
  const Bytes first(kBytes, 'd'), second(kBytes, 'e');
  send(slot, device.address, first.data(), kBytes, stream);
  send(slot, device.address + kBytes, second.data(), kBytes, stream);
  CHECK((arrived() == first));
  CHECK((arrived(kBytes) == second));
}

TEST_CASE_METHOD(BusyStream, "two sends through the same slot in different streams both arrive") {
  const Bytes first(kBytes, 'd'), second(kBytes, 'e');
  cu::Stream idle;
  send(slot, device.address, first.data(), kBytes, stream);
  send(slot, device.address + kBytes, second.data(), kBytes, idle.handle);
  CU_CHECK(cuStreamSynchronize(idle.handle));
  CHECK((arrived() == first));
  CHECK((arrived(kBytes) == second));
}

TEST_CASE_METHOD(BusyStream, "the copy waits for earlier work in its stream") {
  const Bytes sent(kBytes, 'f');
  CU_CHECK(cuMemsetD8Async(device.address, 'm', kBytes, stream));
  send(slot, device.address, sent.data(), kBytes, stream);
  CHECK((arrived() == sent));
}

TEST_CASE_METHOD(BusyStream, "a failed copy is thrown") {
  const Bytes sent(kBytes, 'g');
  CHECK_THROWS_AS(send(slot, device.address + kBytes + 1, sent.data(), kBytes, stream), cu::Error);
}

// Recorded before the copy, it would complete too early.
TEST_CASE_METHOD(BusyStream, "the event is recorded after the copy") {
  const Bytes sent(kBytes, 'h');
  queued.clear();
  send(slot, device.address, sent.data(), kBytes, stream);
  CAPTURE(queued);
  REQUIRE(queued.find("copy") != std::string::npos);
  CHECK(queued.rfind("record") + 1 > queued.rfind("copy") + 1);  // npos + 1 is 0
}

TEST_CASE_METHOD(BusyStream, "every driver call is checked") {
  const Bytes sent(kBytes, 'i');
  const auto solution = [&] { send(slot, device.address, sent.data(), kBytes, stream); };
  CHECK(ignored_failure({"cuEventSynchronize", "cuEventQuery", "cuMemcpyHtoDAsync", "cuEventRecord"}, solution) == "");
}

// A new event would leak the old one, and other code may be waiting for the old one.
TEST_CASE_METHOD(BusyStream, "the slot keeps its event") {
  const CUevent its_own = slot.free;
  const Bytes sent(kBytes, 'j');
  send(slot, device.address, sent.data(), kBytes, stream);
  CHECK(slot.free == its_own);
}
