// Checks the learner's fill() (exercise of 03-memory/18-memset-and-types).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

void fill(CUdeviceptr address, std::size_t count, float value);

namespace {

constexpr std::size_t kFloats = 1000;
constexpr std::uint32_t kUntouched = 0xdeadbeef;

std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// The words of an allocation of kFloats after the solution has filled `count` of them, starting at index `first`.
std::vector<std::uint32_t> filled(std::size_t first, std::size_t count, float value) {
  cu::Memory memory(kFloats * sizeof(float));
  std::vector<std::uint32_t> words(kFloats, kUntouched);
  CU_CHECK(cuMemcpyHtoD(memory.address, words.data(), kFloats * sizeof(float)));
  fill(memory.address + first * sizeof(float), count, value);
  CU_CHECK(cuMemcpyDtoH(words.data(), memory.address, kFloats * sizeof(float)));
  return words;
}

// What the solution has called so far.
int arrays_copied = 0;
std::size_t most_words = 0;

}  // namespace

CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  ++arrays_copied;
  return DRIVERS(cuMemcpyHtoD)(to, from, bytes);
}

CUresult cuMemsetD32(CUdeviceptr to, unsigned int word, std::size_t count) {
  if (Refusal::meets("cuMemsetD32")) return kRefused;
  most_words = std::max(most_words, count);
  return DRIVERS(cuMemsetD32)(to, word, count);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int word, std::size_t count, CUstream stream) {
  if (Refusal::meets("cuMemsetD32Async")) return kRefused;
  most_words = std::max(most_words, count);
  return DRIVERS(cuMemsetD32Async)(to, word, count, stream);
}

TEST_CASE_METHOD(cu::Context, "a thousand floats are 1") {
  CHECK((filled(0, kFloats, 1.0f) == std::vector<std::uint32_t>(kFloats, bits_of(1.0f))));
}

TEST_CASE_METHOD(cu::Context, "a thousand floats are 0.1") {
  CHECK((filled(0, kFloats, 0.1f) == std::vector<std::uint32_t>(kFloats, bits_of(0.1f))));
}

TEST_CASE_METHOD(cu::Context, "a thousand floats are 0") {
  CHECK((filled(0, kFloats, 0.0f) == std::vector<std::uint32_t>(kFloats, 0)));
}

TEST_CASE_METHOD(cu::Context, "negative zero keeps its sign, and NaN keeps its bits") {
  CHECK(filled(0, kFloats, -0.0f).back() == bits_of(-0.0f));
  CHECK(filled(0, kFloats, std::nanf("")).back() == bits_of(std::nanf("")));
}

TEST_CASE_METHOD(cu::Context, "the floats before and after the range are unchanged") {
  const auto words = filled(10, 5, 2.5f);
  for (std::size_t i = 0; i < kFloats; ++i) {
    CAPTURE(i);
    REQUIRE(words[i] == (i >= 10 && i < 15 ? bits_of(2.5f) : kUntouched));
  }
}

TEST_CASE_METHOD(cu::Context, "a count of 0 changes nothing") {
  CHECK((filled(0, 0, 1.0f) == std::vector<std::uint32_t>(kFloats, kUntouched)));
}

TEST_CASE_METHOD(cu::Context, "a count that exceeds the allocation is an error") {
  cu::Memory memory(kFloats * sizeof(float));
  CHECK_THROWS_AS(fill(memory.address, kFloats + 1, 1.0f), cu::Error);
}

TEST_CASE_METHOD(cu::Context, "no array is copied from the host") {
  cu::Memory memory(kFloats * sizeof(float));
  arrays_copied = 0;
  fill(memory.address, kFloats, 0.5f);
  CHECK(arrays_copied == 0);
}

TEST_CASE_METHOD(cu::Context, "a count above 4 billion is not truncated") {
  cu::Memory memory(kFloats * sizeof(float));
  arrays_copied = 0;
  most_words = 0;
  fill(memory.address, 1, 0.5f);
  if (most_words == 0 || arrays_copied > 0) return;  // another method, which might need 16 GiB of host memory here
  CHECK_THROWS_AS(fill(memory.address, (std::size_t{1} << 32) + 5, 0.5f), cu::Error);
}

TEST_CASE_METHOD(cu::Context, "every driver call is checked") {
  cu::Memory memory(kFloats * sizeof(float));
  CHECK(ignored_failure({"cuMemsetD32", "cuMemsetD32Async"}, [&] { fill(memory.address, 5, 0.5f); }) == "");
}
