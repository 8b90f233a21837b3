// Checks the learner's swap() (exercise of 03-memory/11-pools).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

void swap(CUdeviceptr a, CUdeviceptr b, std::size_t bytes, CUstream stream);

namespace {

constexpr std::size_t kBytes = 1 << 20;
int plain_allocations = 0;
std::vector<CUstream> allocated_in, freed_in;

void CUDA_CB sleep_a_while(void* over) {
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  *static_cast<std::atomic<bool>*>(over) = true;
}

struct TwoBuffers : cu::Context {
  cu::Memory a{kBytes}, b{kBytes};
  cu::Stream stream;
  CUmemoryPool pool = nullptr;
  std::atomic<bool> over{false};

  TwoBuffers() {
    CU_CHECK(cuDeviceGetDefaultMemPool(&pool, device));
    CU_CHECK(cuMemsetD8(a.address, 'a', kBytes));
    CU_CHECK(cuMemsetD8(b.address, 'b', kBytes));
    CU_CHECK(cuCtxSynchronize());
  }
  ~TwoBuffers() { CU_REPORT(cuCtxSynchronize()); }

  bool all_are(const cu::Memory& buffer, char letter) {
    std::vector<char> bytes(kBytes);
    CU_CHECK(cuStreamSynchronize(stream.handle));
    CU_CHECK(cuMemcpyDtoH(bytes.data(), buffer.address, kBytes));
    return bytes == std::vector<char>(kBytes, letter);
  }
  cuuint64_t used() {
    cuuint64_t bytes = 0;
    CU_CHECK(cuStreamSynchronize(stream.handle));
    CU_CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes));
    return bytes;
  }
};

}  // namespace

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  ++plain_allocations;
  return DRIVERS(cuMemAlloc)(address, bytes);
}

CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  if (Refusal::meets("cuMemAllocAsync")) return kRefused;
  allocated_in.push_back(stream);
  return DRIVERS(cuMemAllocAsync)(address, bytes, stream);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  freed_in.push_back(stream);
  return DRIVERS(cuMemFreeAsync)(address, stream);
}

MAY_BE_REFUSED(cuMemAllocFromPoolAsync, (CUdeviceptr * address, std::size_t bytes, CUmemoryPool from, CUstream stream),
               (address, bytes, from, stream))
MAY_BE_REFUSED(cuMemcpyDtoDAsync, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream),
               (to, from, bytes, stream))
MAY_BE_REFUSED(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream),
               (to, from, bytes, stream))

TEST_CASE_METHOD(TwoBuffers, "the buffers have exchanged their contents") {
  swap(a.address, b.address, kBytes, stream.handle);
  CHECK(all_are(a, 'b'));
  CHECK(all_are(b, 'a'));
}

TEST_CASE_METHOD(TwoBuffers, "two swaps restore the contents") {
  swap(a.address, b.address, kBytes, stream.handle);
  swap(a.address, b.address, kBytes, stream.handle);
  CHECK(all_are(a, 'a'));
  CHECK(all_are(b, 'b'));
}

TEST_CASE_METHOD(TwoBuffers, "swap returns while the stream is still busy") {
  CU_CHECK(cuLaunchHostFunc(stream.handle, sleep_a_while, &over));
  swap(a.address, b.address, kBytes, stream.handle);
  CHECK_FALSE(over.load());
  CHECK(all_are(a, 'b'));
}

TEST_CASE_METHOD(TwoBuffers, "the swap is in stream order") {
  CU_CHECK(cuLaunchHostFunc(stream.handle, sleep_a_while, &over));
  CU_CHECK(cuMemsetD8Async(a.address, 'c', kBytes, stream.handle));
  swap(a.address, b.address, kBytes, stream.handle);
  CHECK(all_are(b, 'c'));
}

TEST_CASE_METHOD(TwoBuffers, "no memory from the pool stays in use") {
  const cuuint64_t before = used();
  for (int i = 0; i < 10; ++i) swap(a.address, b.address, kBytes, stream.handle);
  CHECK(used() == before);
}

TEST_CASE_METHOD(TwoBuffers, "if a copy fails, the error is thrown, and no memory stays in use") {
  const cuuint64_t before = used();
  CHECK_THROWS_AS(swap(a.address, b.address + 1, kBytes, stream.handle), cu::Error);
  CHECK_THROWS_AS(swap(a.address + 1, b.address, kBytes, stream.handle), cu::Error);
  CHECK(used() == before);
}

TEST_CASE_METHOD(TwoBuffers, "the memory comes from the pool") {
  const int before = plain_allocations;
  swap(a.address, b.address, kBytes, stream.handle);
  CHECK(plain_allocations == before);
  CHECK(all_are(a, 'b'));
}

// In another stream, it might be allocated too late, or freed while the copies are still running.
TEST_CASE_METHOD(TwoBuffers, "memory is allocated and freed in the copying stream and in no other") {
  allocated_in.clear();
  freed_in.clear();
  swap(a.address, b.address, kBytes, stream.handle);
  CU_CHECK(cuCtxSynchronize());
  for (const CUstream in : allocated_in) CHECK(in == stream.handle);
  CHECK(freed_in == std::vector<CUstream>{stream.handle});
}

TEST_CASE_METHOD(TwoBuffers, "each call is checked: a driver error is thrown") {
  const auto solution = [&] { swap(a.address, b.address, kBytes, stream.handle); };
  CHECK(ignored_failure({"cuMemAllocAsync", "cuMemAllocFromPoolAsync", "cuMemcpyDtoDAsync", "cuMemcpyAsync"},
                        solution) == "");
}
