// Self-check of 03-memory/02-bounds: judges the learner's room().
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

std::size_t room(CUdeviceptr address);

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

TEST_CASE("without a context, what the driver refuses is thrown") {
  CU_CHECK(cuInit(0));
  CHECK_THROWS_AS(room(0x1000), cu::Error);
}
