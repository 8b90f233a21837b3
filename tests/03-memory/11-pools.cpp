// Checks the learner's share() (exercise of 03-memory/11-pools).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

void share(std::size_t bytes, CUstream home, const std::vector<CUstream>& others,
           const std::function<void(CUdeviceptr, CUstream)>& work);

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kBytes = 1 << 20;
std::vector<CUstream> allocated_in, freed_in;

// A place in a stream at which the device waits until the gate is opened, or for a second: a solution that waits for a
// closed gate must end, too.
class Gate {
 public:
  void close(CUstream stream) { CU_CHECK(cuLaunchHostFunc(stream, wait, this)); }
  void open() { open_ = true; }
  bool has_timed_out() const { return timed_out_; }

 private:
  static void CUDA_CB wait(void* it) {
    Gate& gate = *static_cast<Gate*>(it);
    const auto end = std::chrono::steady_clock::now() + 1s;
    while (!gate.open_ && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
    gate.timed_out_ = !gate.open_;
  }
  std::atomic<bool> open_{false}, timed_out_{false};
};

// Whether the device has reached a place in a stream. An event, because a driver may run all host functions on one
// thread, which a closed gate occupies.
class Mark {
 public:
  void put(CUstream stream) { CU_CHECK(DRIVERS(cuEventRecord)(event_.handle, stream)); }
  bool is_reached() const { return cuEventQuery(event_.handle) == CUDA_SUCCESS; }
  bool comes() const {
    for (int i = 0; i < 300 && !is_reached(); ++i) std::this_thread::sleep_for(1ms);
    return is_reached();
  }
  bool stays_away() const {
    std::this_thread::sleep_for(30ms);
    return !is_reached();
  }

 private:
  cu::Event event_{CU_EVENT_DISABLE_TIMING};
};

struct Streams : cu::Primary {
  cu::Stream home, one, two;
  const std::vector<CUstream> others{one.handle, two.handle};
  Gate gate;
  Mark mark;
  CUmemoryPool pool = nullptr;

  Streams() { CU_CHECK(cuDeviceGetDefaultMemPool(&pool, device)); }
  ~Streams() {
    gate.open();
    CU_REPORT(cuCtxSynchronize());
  }
  // Bytes of the pool that are in use after all work has completed.
  cuuint64_t used() {
    gate.open();
    cuuint64_t bytes = 0;
    CU_CHECK(cuCtxSynchronize());
    CU_CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes));
    return bytes;
  }
};

}  // namespace

CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  if (Refusal::meets("cuMemAllocAsync")) return kRefused;
  allocated_in.push_back(stream);
  return DRIVERS(cuMemAllocAsync)(address, bytes, stream);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  freed_in.push_back(stream);
  return DRIVERS(cuMemFreeAsync)(address, stream);
}

MAY_BE_REFUSED(cuEventCreate, (CUevent * event, unsigned flags), (event, flags))
MAY_BE_REFUSED(cuEventRecord, (CUevent event, CUstream stream), (event, stream))
MAY_BE_REFUSED(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags), (stream, event, flags))

TEST_CASE_METHOD(Streams, "the other streams read what the first one has written") {
  std::vector<std::vector<char>> read;
  std::vector<CUstream> called;
  const cu::Pinned received(2 * kBytes);
  share(kBytes, home.handle, others, [&](CUdeviceptr memory, CUstream stream) {
    if (stream == home.handle)
      CU_CHECK(cuMemsetD8Async(memory, 'x', kBytes, stream));
    else
      CU_CHECK(cuMemcpyDtoHAsync(received.as<char>() + (called.size() - 1) * kBytes, memory, kBytes, stream));
    called.push_back(stream);
  });
  CHECK(called == std::vector<CUstream>{home.handle, one.handle, two.handle});
  CU_CHECK(cuCtxSynchronize());
  CHECK(std::count(received.as<char>(), received.as<char>() + 2 * kBytes, 'x') == 2 * kBytes);
}

TEST_CASE_METHOD(Streams, "another stream waits for the work that fills the memory") {
  share(kBytes, home.handle, {one.handle}, [&](CUdeviceptr, CUstream stream) {
    if (stream == home.handle)
      gate.close(stream);
    else
      mark.put(stream);
  });
  CHECK(mark.stays_away());
  gate.open();
  CHECK(mark.comes());
}

TEST_CASE_METHOD(Streams, "share returns while the streams are busy") {
  share(kBytes, home.handle, others, [&](CUdeviceptr, CUstream stream) {
    if (stream == two.handle) gate.close(stream);
  });
  CHECK_FALSE(gate.has_timed_out());
}

TEST_CASE_METHOD(Streams, "the memory is freed after the work of the other streams") {
  share(kBytes, home.handle, others, [&](CUdeviceptr, CUstream stream) {
    if (stream == one.handle) gate.close(stream);
  });
  mark.put(home.handle);  // it comes after the free
  CHECK(mark.stays_away());
  gate.open();
  CHECK(mark.comes());
}

TEST_CASE_METHOD(Streams, "the other streams do not wait for each other") {
  share(kBytes, home.handle, others, [&](CUdeviceptr, CUstream stream) {
    if (stream == one.handle) gate.close(stream);
    if (stream == two.handle) mark.put(stream);
  });
  CHECK(mark.comes());
  CHECK_FALSE(gate.has_timed_out());
}

TEST_CASE_METHOD(Streams, "if the work throws, the memory is freed after what was enqueued before") {
  const cuuint64_t before = used();
  Gate closed;
  CHECK_THROWS_AS(share(kBytes, home.handle, others,
                        [&](CUdeviceptr, CUstream stream) {
                          if (stream == one.handle) closed.close(stream);
                          if (stream == two.handle) throw std::runtime_error("no work");
                        }),
                  std::runtime_error);
  mark.put(home.handle);
  CHECK(mark.stays_away());
  closed.open();
  CHECK(used() == before);
  CHECK_THROWS_AS(share(kBytes, home.handle, others, [](CUdeviceptr, CUstream) { throw 42; }), int);
  CHECK(used() == before);
}

TEST_CASE_METHOD(Streams, "no memory stays in use, whatever the number of streams") {
  const cuuint64_t before = used();
  const auto nothing = [](CUdeviceptr, CUstream) {};
  for (int i = 0; i < 5; ++i) share(kBytes, home.handle, others, nothing);
  share(kBytes, home.handle, {}, nothing);
  CHECK(used() == before);
}

TEST_CASE_METHOD(Streams, "the memory is allocated and freed in the first stream and in no other") {
  allocated_in.clear();
  freed_in.clear();
  share(kBytes, home.handle, others, [](CUdeviceptr, CUstream) {});
  CHECK(allocated_in == std::vector<CUstream>{home.handle});
  CHECK(freed_in == std::vector<CUstream>{home.handle});
}

TEST_CASE_METHOD(Streams, "each call is checked: a driver error is thrown") {
  const auto solution = [&] { share(kBytes, home.handle, others, [](CUdeviceptr, CUstream) {}); };
  CHECK(ignored_failure({"cuMemAllocAsync", "cuEventCreate", "cuEventRecord", "cuStreamWaitEvent"}, solution) == "");
}
