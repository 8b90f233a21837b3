// Checks the learner's take_turns() (exercise of 03-memory/10-managed).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"
#include "tests/numbers.hpp"

#include <chrono>
#include <thread>

void take_turns(CUfunction add_one, CUdevice device, int* numbers, int n, int rounds);

namespace {

constexpr int kNumbers = 100000;
int allocations = 0;  // of device memory so far

struct Managed : cu::Context {
  cu::Module module{cu::image("kernels.ptx")};
  CUfunction add_one = module.function("add_one");
  CUdeviceptr address = 0;
  int* numbers = nullptr;

  Managed() {
    CU_CHECK(cuMemAllocManaged(&address, kNumbers * sizeof(int), CU_MEM_ATTACH_GLOBAL));
    numbers = reinterpret_cast<int*>(address);
    for (int i = 0; i < kNumbers; ++i) numbers[i] = i;
  }
  ~Managed() { CU_REPORT(cuMemFree(address)); }

  // Describes the first number that is not `factor` * i + `summand`, or returns "".
  std::string verdict(int factor, int summand) const {
    return judged("numbers", numbers, kNumbers, [=](int i) { return factor * i + summand; });
  }
};

void CUDA_CB sleep_a_while(void*) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }

}  // namespace

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  ++allocations;
  return DRIVERS(cuMemAlloc)(address, bytes);
}

MAY_BE_REFUSED(cuLaunchKernel,
               (CUfunction kernel, unsigned int blocks_x, unsigned int blocks_y, unsigned int blocks_z,
                unsigned int threads_x, unsigned int threads_y, unsigned int threads_z, unsigned int shared_bytes,
                CUstream stream, void** arguments, void** extra),
               (kernel, blocks_x, blocks_y, blocks_z, threads_x, threads_y, threads_z, shared_bytes, stream, arguments,
                extra))
MAY_BE_REFUSED(cuCtxSynchronize, (), ())
MAY_BE_REFUSED(cuStreamSynchronize, (CUstream stream), (stream))

TEST_CASE_METHOD(Managed, "one round: the kernel adds one, then the host doubles") {
  take_turns(add_one, device, numbers, kNumbers, 1);
  CHECK(verdict(2, 2) == kAllRight);
}

TEST_CASE_METHOD(Managed, "three rounds") {
  take_turns(add_one, device, numbers, kNumbers, 3);
  CHECK(verdict(8, 14) == kAllRight);
}

TEST_CASE_METHOD(Managed, "the host waits for the kernel, even if the device is busy") {
  CU_CHECK(cuLaunchHostFunc(nullptr, sleep_a_while, nullptr));
  take_turns(add_one, device, numbers, kNumbers, 2);
  CU_CHECK(cuCtxSynchronize());
  CHECK(verdict(4, 6) == kAllRight);
}

TEST_CASE_METHOD(Managed, "all numbers are prefetched to the device") {
  take_turns(add_one, device, numbers, kNumbers, 1);
  int where = -3;
  CU_CHECK(cuMemRangeGetAttribute(&where, sizeof where, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, address,
                                  kNumbers * sizeof(int)));
  CHECK(where == device);
}

TEST_CASE_METHOD(Managed, "no other memory is allocated") {
  const int before = allocations;
  take_turns(add_one, device, numbers, kNumbers, 1);
  CHECK(allocations == before);
  CHECK(verdict(2, 2) == kAllRight);
}

TEST_CASE_METHOD(Managed, "memory that is not managed is rejected") {
  cu::Memory plain(kNumbers * sizeof(int));
  CHECK_THROWS_AS(take_turns(add_one, device, reinterpret_cast<int*>(plain.address), kNumbers, 0), cu::Error);
}

TEST_CASE_METHOD(Managed, "a device that does not exist is rejected, not replaced by another one") {
  CHECK_THROWS_AS(take_turns(add_one, device + 100, numbers, kNumbers, 0), cu::Error);
}

TEST_CASE_METHOD(Managed, "each call is checked: a driver error is thrown") {
  const auto solution = [&] { take_turns(add_one, device, numbers, kNumbers, 2); };
  CHECK(ignored_failure({"cuLaunchKernel", "cuCtxSynchronize", "cuStreamSynchronize"}, solution) == "");
  CU_CHECK(cuCtxSynchronize());  // a kernel may still be running
}
