// Self-check of 03-memory/02-bounds: judges the learner's room().
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

std::size_t room(CUdeviceptr address);

namespace {

// An allocation of 6 GiB, made out to be there while a test says so.
constexpr CUdeviceptr kLarge = 0x7f0000000000;
constexpr std::size_t kGiB = std::size_t{1} << 30;
bool large_is_there = false, asked_for_it = false;

}  // namespace

// The answer's calls come through here.
CUresult CUDAAPI cuMemGetAddressRange(CUdeviceptr* begin, std::size_t* bytes, CUdeviceptr address) {
  if (Refusal::meets("cuMemGetAddressRange")) return kRefused;
  if (!large_is_there) return DRIVERS(cuMemGetAddressRange)(begin, bytes, address);
  asked_for_it = true;
  if (begin != nullptr) *begin = kLarge;
  if (bytes != nullptr) *bytes = 6 * kGiB;
  return CUDA_SUCCESS;
}

MAY_BE_REFUSED(cuPointerGetAttribute, (void* value, CUpointer_attribute attribute, CUdeviceptr pointer),
               (value, attribute, pointer))
MAY_BE_REFUSED(cuPointerGetAttributes,
               (unsigned int count, CUpointer_attribute* attributes, void** values, CUdeviceptr pointer),
               (count, attributes, values, pointer))

TEST_CASE_METHOD(cu::Context, "at the beginning there is room for the whole allocation") {
  cu::Memory memory(1000);
  CHECK(room(memory.address) == 1000);
}

TEST_CASE_METHOD(cu::Context, "further in there is less") {
  cu::Memory memory(1000);
  CHECK(room(memory.address + 300) == 700);
  CHECK(room(memory.address + 999) == 1);
}

TEST_CASE_METHOD(cu::Context, "what was freed has no room") {
  CUdeviceptr freed;
  CU_CHECK(cuMemAlloc(&freed, 64 << 20));
  CU_CHECK(cuMemFree(freed));
  CHECK(room(freed) == 0);
}

TEST_CASE_METHOD(cu::Context, "an array of the host has none, as far as the driver knows") {
  int local = 0;
  CHECK(room(reinterpret_cast<CUdeviceptr>(&local)) == 0);
}

TEST_CASE_METHOD(cu::Context, "a copy into the room is taken, and one byte more is refused") {
  cu::Memory memory(1000);
  const char bytes[1000] = {};
  const CUdeviceptr inside = memory.address + 512;
  const std::size_t there = room(inside);
  REQUIRE(there < sizeof bytes);
  CHECK(cuMemcpyHtoD(inside, bytes, there) == CUDA_SUCCESS);
  CHECK(cuMemcpyHtoD(inside, bytes, there + 1) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE_METHOD(cu::Context, "an allocation may be larger than 32 bits can count") {
  large_is_there = true;
  const std::size_t there = room(kLarge + 5 * kGiB + 100);
  large_is_there = false;
  if (asked_for_it) CHECK(there == kGiB - 100);  // who asks in another way has not met it
}

TEST_CASE_METHOD(cu::Context, "each call is checked: what the driver refuses is thrown") {
  cu::Memory memory(1000);
  CHECK(goes_on({"cuMemGetAddressRange", "cuPointerGetAttribute", "cuPointerGetAttributes"},
                [&] { room(memory.address); }) == "");
}
