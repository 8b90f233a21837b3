// Checks the learner's room() (exercise of 03-memory/02-bounds).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

std::size_t room(CUdeviceptr address);

namespace {

// While this is set, the driver appears to have an allocation of 6 GiB.
constexpr CUdeviceptr kLarge = 0x7f0000000000;
constexpr std::size_t kGiB = std::size_t{1} << 30;
bool pretend_large = false, was_asked = false;

}  // namespace

// The solution's calls are intercepted here.
CUresult CUDAAPI cuMemGetAddressRange(CUdeviceptr* begin, std::size_t* bytes, CUdeviceptr address) {
  if (Refusal::meets("cuMemGetAddressRange")) return kRefused;
  if (!pretend_large) return DRIVERS(cuMemGetAddressRange)(begin, bytes, address);
  was_asked = true;
  if (begin != nullptr) *begin = kLarge;
  if (bytes != nullptr) *bytes = 6 * kGiB;
  return CUDA_SUCCESS;
}

MAY_BE_REFUSED(cuPointerGetAttribute, (void* value, CUpointer_attribute attribute, CUdeviceptr pointer),
               (value, attribute, pointer))
MAY_BE_REFUSED(cuPointerGetAttributes,
               (unsigned int count, CUpointer_attribute* attributes, void** values, CUdeviceptr pointer),
               (count, attributes, values, pointer))

TEST_CASE_METHOD(cu::Context, "at its start, there is room for the whole allocation") {
  cu::Memory memory(1000);
  CHECK(room(memory.address) == 1000);
}

TEST_CASE_METHOD(cu::Context, "inside the allocation, there is less room") {
  cu::Memory memory(1000);
  CHECK(room(memory.address + 300) == 700);
  CHECK(room(memory.address + 999) == 1);
}

TEST_CASE_METHOD(cu::Context, "freed memory has no room") {
  CUdeviceptr freed;
  CU_CHECK(cuMemAlloc(&freed, 64 << 20));
  CU_CHECK(cuMemFree(freed));
  CHECK(room(freed) == 0);
}

TEST_CASE_METHOD(cu::Context, "a host array has no room on the device") {
  int local = 0;
  CHECK(room(reinterpret_cast<CUdeviceptr>(&local)) == 0);
}

TEST_CASE_METHOD(cu::Context, "a copy that fills the room succeeds, and one more byte fails") {
  cu::Memory memory(1000);
  const char bytes[1000] = {};
  const CUdeviceptr inside = memory.address + 512;
  const std::size_t bytes_left = room(inside);
  REQUIRE(bytes_left < sizeof bytes);
  CHECK(cuMemcpyHtoD(inside, bytes, bytes_left) == CUDA_SUCCESS);
  CHECK(cuMemcpyHtoD(inside, bytes, bytes_left + 1) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE_METHOD(cu::Context, "an allocation may be larger than 4 GiB") {
  pretend_large = true;
  const std::size_t bytes_left = room(kLarge + 5 * kGiB + 100);
  pretend_large = false;
  if (was_asked) CHECK(bytes_left == kGiB - 100);  // a solution that uses another call does not see this allocation
}

TEST_CASE_METHOD(cu::Context, "any other driver error is thrown") {
  cu::Memory memory(1000);
  CHECK(ignored_failure({"cuMemGetAddressRange", "cuPointerGetAttribute", "cuPointerGetAttributes"},
                        [&] { room(memory.address); }) == "");
}
