// Checks the learner's where() (exercise of 03-memory/03-whose-pointer).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <cstdlib>
#include <vector>

enum class Where { pageable, pinned, device, managed };

Where where(const void* pointer);

CATCH_REGISTER_ENUM(Where, Where::pageable, Where::pinned, Where::device, Where::managed)

namespace {

Where where(CUdeviceptr address) { return ::where(reinterpret_cast<const void*>(address)); }

}  // namespace

MAY_BE_REFUSED(cuPointerGetAttribute, (void* value, CUpointer_attribute attribute, CUdeviceptr pointer),
               (value, attribute, pointer))
MAY_BE_REFUSED(cuPointerGetAttributes,
               (unsigned int count, CUpointer_attribute* attributes, void** values, CUdeviceptr pointer),
               (count, attributes, values, pointer))

TEST_CASE_METHOD(cu::Context, "a vector and a local variable are pageable") {
  const std::vector<float> floats(1000);
  const int local = 0;
  CHECK(::where(floats.data()) == Where::pageable);
  CHECK(::where(&local) == Where::pageable);
}

TEST_CASE_METHOD(cu::Context, "allocated and registered host memory is pinned up to its last byte") {
  void* pinned = nullptr;
  CU_CHECK(cuMemHostAlloc(&pinned, 1 << 20, 0));
  CHECK(::where(static_cast<char*>(pinned) + (1 << 20) - 1) == Where::pinned);
  CU_CHECK(cuMemFreeHost(pinned));
  std::vector<char> registered(1 << 20);
  CU_CHECK(cuMemHostRegister(registered.data(), registered.size(), 0));
  CHECK(::where(registered.data() + 1000) == Where::pinned);
  CU_CHECK(cuMemHostUnregister(registered.data()));
  CHECK(::where(registered.data() + 1000) == Where::pageable);
}

TEST_CASE_METHOD(cu::Context, "every address in device memory is recognized, not only the first") {
  cu::Memory memory(1 << 20);
  CHECK(where(memory.address) == Where::device);
  CHECK(where(memory.address + 4567) == Where::device);
}

TEST_CASE_METHOD(cu::Context, "managed memory is reported as managed, not as device memory") {
  CUdeviceptr managed = 0;
  CU_CHECK(cuMemAllocManaged(&managed, 1 << 20, CU_MEM_ATTACH_GLOBAL));
  CHECK(where(managed) == Where::managed);
  CU_CHECK(cuMemFree(managed));
}

TEST_CASE_METHOD(cu::Context, "it works when no context is current") {
  cu::Memory memory(1 << 20);
  CUcontext popped = nullptr;
  CU_CHECK(cuCtxPopCurrent(&popped));
  CHECK(where(memory.address) == Where::device);
  CU_CHECK(cuCtxPushCurrent(popped));
}

TEST_CASE_METHOD(cu::Context, "every error except an unknown address is thrown") {
  cu::Memory memory(1 << 20);
  CHECK(ignored_failure({"cuPointerGetAttribute", "cuPointerGetAttributes"}, [&] { where(memory.address); }) == "");
}
