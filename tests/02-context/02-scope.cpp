// Checks the learner's share() (exercise of 02-context/02-scope).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <memory>
#include <thread>

std::shared_ptr<const CUdeviceptr> share(const std::shared_ptr<cu::Context>& context, std::size_t bytes);

namespace {

struct Freed {
  int times = 0;
  CUcontext in = nullptr;  // the current context of the thread that called cuMemFree
};
Freed freed;
int destroyed = 0;  // contexts

// A context that is not current, and another one that is.
struct TwoContexts {
  std::shared_ptr<cu::Context> owner = std::make_shared<cu::Context>();
  cu::Context other;
  CUcontext handle = owner->handle;
  TwoContexts() {
    CUcontext popped;
    for (int i = 0; i < 2; ++i) CU_CHECK(cuCtxPopCurrent(&popped));
    CU_CHECK(cuCtxPushCurrent(other.handle));
    freed = {};
    destroyed = 0;
  }
  ~TwoContexts() {
    CUcontext left;
    while (cuCtxPopCurrent(&left) == CUDA_SUCCESS) {
    }
  }
};

}  // namespace

CUresult CUDAAPI cuMemFree(CUdeviceptr address) {
  ++freed.times;
  freed.in = current();
  return DRIVERS(cuMemFree)(address);
}

CUresult CUDAAPI cuCtxDestroy(CUcontext context) {
  ++destroyed;
  return DRIVERS(cuCtxDestroy)(context);
}

MAY_BE_REFUSED(cuCtxPushCurrent, (CUcontext context), (context))
MAY_BE_REFUSED(cuCtxSetCurrent, (CUcontext context), (context))

TEST_CASE_METHOD(TwoContexts, "the memory can be used while a copy of the pointer exists") {
  auto first = share(owner, 4096);
  const auto second = first;
  first.reset();
  CHECK(freed.times == 0);
  CHECK(cuMemsetD8(*second, 1, 4096) == CUDA_SUCCESS);
  CU_CHECK(cuCtxSynchronize());  // the memory is freed in another context, which does not wait for this one
}

TEST_CASE_METHOD(TwoContexts, "the memory is freed once, when the last copy is destroyed") {
  auto first = share(owner, 4096);
  auto second = first;
  first.reset();
  second.reset();
  CHECK(freed.times == 1);
}

TEST_CASE_METHOD(TwoContexts, "the memory belongs to the given context, whichever is current") {
  const auto memory = share(owner, 4096);
  CUcontext belongs_to = nullptr;
  CHECK(cuPointerGetAttribute(&belongs_to, CU_POINTER_ATTRIBUTE_CONTEXT, *memory) == CUDA_SUCCESS);
  CHECK(belongs_to == handle);
}

TEST_CASE_METHOD(TwoContexts, "the memory is freed with its own context current") {
  auto memory = share(owner, 4096);
  memory.reset();
  CHECK(freed.times == 1);
  CHECK(freed.in == handle);
}

TEST_CASE_METHOD(TwoContexts, "a thread without a context can free the memory") {
  auto memory = share(owner, 4096);
  std::thread([&] { memory.reset(); }).join();
  CHECK(freed.times == 1);
  CHECK(freed.in == handle);
}

TEST_CASE_METHOD(TwoContexts, "the context stack does not change") {
  auto memory = share(owner, 4096);
  CHECK(current() == other.handle);
  memory.reset();
  CHECK(current() == other.handle);
  CUcontext popped;
  CU_CHECK(cuCtxPopCurrent(&popped));
  CHECK(current() == nullptr);
}

TEST_CASE_METHOD(TwoContexts, "the memory keeps its context alive") {
  auto* const memory = new std::shared_ptr<const CUdeviceptr>(share(owner, 4096));
  owner.reset();
  INFO("The caller has dropped its pointer to the context, but still has the memory.");
  REQUIRE(destroyed == 0);  // if this fails, `memory` is leaked: freeing it in a destroyed context is undefined
  CHECK(cuMemsetD8(**memory, 1, 4096) == CUDA_SUCCESS);
  CU_CHECK(cuCtxSynchronize());
  delete memory;
  CHECK(freed.times == 1);
  CHECK(freed.in == handle);
}

TEST_CASE_METHOD(TwoContexts, "the context is destroyed when neither the caller nor the memory needs it") {
  auto memory = share(owner, 4096);
  memory.reset();
  CHECK(destroyed == 0);
  owner.reset();
  CHECK(destroyed == 1);
}

TEST_CASE_METHOD(TwoContexts, "the deleter does not throw, even if the context cannot be made current") {
  auto memory = share(owner, 4096);
  const Refusal push("cuCtxPushCurrent");
  memory.reset();  // an exception from the deleter would terminate the program
  CHECK(current() == other.handle);
}

TEST_CASE_METHOD(TwoContexts, "a failed allocation throws and does not keep the context alive") {
  CHECK_THROWS_AS(share(owner, std::size_t{1} << 50), cu::Error);
  CHECK(current() == other.handle);
  owner.reset();
  CHECK(destroyed == 1);
}
