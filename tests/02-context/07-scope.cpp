// Self-check of 02-context/07-scope: judges the learner's share().
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <memory>
#include <thread>

std::shared_ptr<const CUdeviceptr> share(std::size_t bytes);

namespace {

struct Freed {
  int times = 0;
  CUcontext in = nullptr;  // what was current
};
Freed freed;
bool gone = false;  // has the owner ended? Drivers have crashed when an ended context is pushed, so it is played

// A context that is current, and another one that is not.
struct TwoContexts {
  CUcontext owner, other;
  TwoContexts() {
    CUdevice device;
    CU_CHECK(cuInit(0));
    CU_CHECK(cuDeviceGet(&device, 0));
    CU_CHECK(cuCtxCreate(&other, nullptr, 0, device));
    CU_CHECK(cuCtxPopCurrent(&other));
    CU_CHECK(cuCtxCreate(&owner, nullptr, 0, device));
    freed = {};
  }
  ~TwoContexts() {
    CUcontext left;
    while (cuCtxPopCurrent(&left) == CUDA_SUCCESS) {
    }
    cuCtxDestroy(owner);
    cuCtxDestroy(other);
  }
};

}  // namespace

// The answer's calls come through here.
CUresult CUDAAPI cuMemFree(CUdeviceptr address) {
  ++freed.times;
  freed.in = current();
  return DRIVERS(cuMemFree)(address);
}

CUresult CUDAAPI cuCtxPushCurrent(CUcontext context) {
  return gone ? CUDA_ERROR_CONTEXT_IS_DESTROYED : DRIVERS(cuCtxPushCurrent)(context);
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext context) {
  return gone ? CUDA_ERROR_CONTEXT_IS_DESTROYED : DRIVERS(cuCtxSetCurrent)(context);
}

TEST_CASE_METHOD(TwoContexts, "the memory can be used for as long as somebody has it") {
  auto first = share(4096);
  const auto second = first;
  first.reset();
  CHECK(freed.times == 0);
  CHECK(cuMemsetD8(*second, 1, 4096) == CUDA_SUCCESS);
}

TEST_CASE_METHOD(TwoContexts, "it is freed once, when the last one lets go") {
  auto first = share(4096);
  auto second = first;
  const CUdeviceptr address = *first;
  first.reset();
  second.reset();
  CHECK(freed.times == 1);
  CHECK(cuMemsetD8(address, 1, 1) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE_METHOD(TwoContexts, "it is freed in the context that owns it, while another one is current") {
  auto memory = share(4096);
  CU_CHECK(cuCtxPushCurrent(other));
  memory.reset();
  CHECK(freed.times == 1);
  CHECK(freed.in == owner);
}

TEST_CASE_METHOD(TwoContexts, "it is freed by a thread that has no context, too") {
  auto memory = share(4096);
  const CUdeviceptr address = *memory;
  std::thread([&] { memory.reset(); }).join();
  CHECK(freed.times == 1);
  CHECK(cuMemsetD8(address, 1, 1) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE_METHOD(TwoContexts, "letting go leaves the stack as it is") {
  auto memory = share(4096);
  CU_CHECK(cuCtxPushCurrent(other));
  memory.reset();
  CHECK(current() == other);
  CUcontext popped;
  CU_CHECK(cuCtxPopCurrent(&popped));
  CHECK(current() == owner);
  CU_CHECK(cuCtxPopCurrent(&popped));
  CHECK(current() == nullptr);
}

TEST_CASE_METHOD(TwoContexts, "letting go never throws, not even when the owner went first") {
  auto memory = share(4096);
  CU_CHECK(cuCtxPushCurrent(other));
  gone = true;
  memory.reset();  // an exception here would end the program: no destructor may throw
  gone = false;
  CHECK(freed.times == 0);  // in another's context it would be another's memory
  CHECK(current() == other);
}

TEST_CASE_METHOD(TwoContexts, "what the driver refuses is thrown") {
  CHECK_THROWS_AS(share(std::size_t{1} << 50), cu::Error);
}
