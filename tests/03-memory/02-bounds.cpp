// Checks the learner's guarded memory (exercise of 03-memory/02-bounds).
#include "03-memory/02-bounds/guarded.hpp"

#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <chrono>
#include <set>
#include <thread>

namespace {

std::set<CUdeviceptr> live;  // what the solution has allocated and not freed

// Writes where a kernel with a wrong index would.
void write(const Guarded& memory, long long offset, unsigned char value, std::size_t count = 1) {
  CU_CHECK(cuMemsetD8(memory.address + offset, value, count));
  CU_CHECK(cuCtxSynchronize());
}

struct Owned {
  Guarded memory;
  explicit Owned(std::size_t bytes) : memory(allocate_guarded(bytes)) { REQUIRE(memory.address != 0); }
  ~Owned() { free_guarded(memory); }
};

}  // namespace

CUresult CUDAAPI cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  if (Refusal::meets("cuMemAlloc")) return kRefused;
  const CUresult result = DRIVERS(cuMemAlloc)(address, bytes);
  if (result == CUDA_SUCCESS) live.insert(*address);
  return result;
}
CUresult CUDAAPI cuMemFree(CUdeviceptr address) {
  if (Refusal::meets("cuMemFree")) return kRefused;
  const CUresult result = DRIVERS(cuMemFree)(address);
  if (result == CUDA_SUCCESS) live.erase(address);
  return result;
}
MAY_BE_REFUSED(cuMemcpyHtoD, (CUdeviceptr to, const void* from, std::size_t bytes), (to, from, bytes))
MAY_BE_REFUSED(cuMemcpyDtoH, (void* to, CUdeviceptr from, std::size_t bytes), (to, from, bytes))
MAY_BE_REFUSED(cuMemcpyDtoD, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes), (to, from, bytes))
MAY_BE_REFUSED(cuCtxSynchronize, (), ())

TEST_CASE_METHOD(cu::Primary, "all bytes of the memory can be used") {
  for (const std::size_t bytes : {1, 255, 256, 1000, 70000}) {
    const Owned owned(bytes);
    CHECK(owned.memory.bytes == bytes);
    write(owned.memory, 0, 0, bytes);
    CHECK(damage(owned.memory) == 0);
  }
}

TEST_CASE_METHOD(cu::Primary, "the address is a multiple of 256") {
  for (const std::size_t bytes : {1, 100, 1000}) CHECK(Owned(bytes).memory.address % 256 == 0);
}

TEST_CASE_METHOD(cu::Primary, "the first byte after the memory is guarded, whatever the size") {
  for (const int bytes : {1, 255, 256, 1000}) {
    const Owned owned(bytes);
    write(owned.memory, bytes, 0);
    CHECK(damage(owned.memory) == bytes);
  }
}

TEST_CASE_METHOD(cu::Primary, "a write before the memory is found") {
  const Owned owned(1000);
  write(owned.memory, -1, 0);
  CHECK(damage(owned.memory) == -1);
}

TEST_CASE_METHOD(cu::Primary, "the last byte of each guard is guarded") {
  const Owned owned(1000), another(1000);
  write(owned.memory, 1255, 0xaa);
  write(another.memory, -256, 0xaa);
  CHECK(damage(owned.memory) == 1255);
  CHECK(damage(another.memory) == -256);
}

TEST_CASE_METHOD(cu::Primary, "of several damaged bytes, the closest one counts") {
  const Owned owned(1000);
  write(owned.memory, -200, 0x55);
  write(owned.memory, -20, 0x55);
  CHECK(damage(owned.memory) == -20);
  write(owned.memory, 1000 + 10, 0x55);
  CHECK(damage(owned.memory) == 1010);
}

TEST_CASE_METHOD(cu::Primary, "a run of equal bytes is found, whatever their value") {
  for (int value = 0; value < 256; ++value) {
    const Owned owned(64);
    write(owned.memory, 64, static_cast<unsigned char>(value), 32);
    if (damage(owned.memory) == 0) FAIL("32 bytes with the value " << value << " were not found");
  }
}

TEST_CASE_METHOD(cu::Primary, "damage waits for the work of every stream") {
  const Owned owned(1000);
  const cu::Stream stream;
  const auto nap = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); };
  CU_CHECK(cuLaunchHostFunc(stream.handle, nap, nullptr));
  CU_CHECK(cuMemsetD8Async(owned.memory.address + 1000, 0, 1, stream.handle));
  CHECK(damage(owned.memory) == 1000);
}

TEST_CASE_METHOD(cu::Primary, "everything is freed") {
  live.clear();
  {
    const Owned owned(1000), another(1);
  }
  CHECK(live.empty());
}

TEST_CASE_METHOD(cu::Primary, "0 bytes are rejected") { CHECK_THROWS_AS(allocate_guarded(0), cu::Error); }

TEST_CASE_METHOD(cu::Primary, "if a call fails, no memory stays allocated") {
  live.clear();
  for (const char* call : {"cuMemcpyHtoD", "cuMemcpyDtoD"}) {
    for (const int turn : {1, 2}) {
      const Refusal refusal(call, turn);
      try {
        free_guarded(allocate_guarded(1000));
      } catch (const cu::Error&) {
      }
    }
  }
  CHECK(live.empty());
}

TEST_CASE_METHOD(cu::Primary, "each call is checked: a driver error is thrown") {
  const Owned owned(1000);
  CHECK(ignored_failure({"cuMemcpyDtoH", "cuCtxSynchronize"}, [&] { damage(owned.memory); }) == "");
  CHECK(ignored_failure({"cuMemAlloc", "cuMemcpyHtoD"}, [] { free_guarded(allocate_guarded(1000)); }) == "");
  const Guarded last = allocate_guarded(1);
  {
    const Refusal refusal("cuMemFree");
    CHECK_THROWS_AS(free_guarded(last), cu::Error);
  }
  free_guarded(last);
}
