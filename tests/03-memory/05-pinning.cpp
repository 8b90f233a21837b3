// Checks the learner's pin() (exercise of 03-memory/05-pinning).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <memory>
#include <vector>

using Pin = std::unique_ptr<void, void (*)(void*)>;

Pin pin(void* memory, std::size_t bytes);

namespace {

constexpr std::size_t kBytes = 1 << 20;

bool is_pinned(const void* address) {
  unsigned int type = 0;
  const auto asked = reinterpret_cast<CUdeviceptr>(address);
  return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, asked) == CUDA_SUCCESS &&
         type == CU_MEMORYTYPE_HOST;
}

}  // namespace

MAY_BE_REFUSED(cuMemHostRegister, (void* memory, std::size_t bytes, unsigned int flags), (memory, bytes, flags))

TEST_CASE_METHOD(cu::Context, "the array is pinned from its first byte to its last while the Pin exists") {
  std::vector<char> array(kBytes);
  const Pin held = pin(array.data(), kBytes);
  CHECK(is_pinned(array.data()));
  CHECK(is_pinned(array.data() + kBytes - 1));
}

TEST_CASE_METHOD(cu::Context, "the array is pageable again after the Pin was destroyed") {
  std::vector<char> array(kBytes);
  {
    const Pin held = pin(array.data(), kBytes);
    REQUIRE(is_pinned(array.data()));
  }
  CHECK_FALSE(is_pinned(array.data()));
}

TEST_CASE_METHOD(cu::Context, "an array that was already registered stays registered") {
  std::vector<char> array(kBytes);
  CU_CHECK(cuMemHostRegister(array.data(), kBytes, 0));
  {
    const Pin held = pin(array.data(), kBytes);
    CHECK(held == nullptr);
  }
  CHECK(is_pinned(array.data()));
  CU_CHECK(cuMemHostUnregister(array.data()));
}

TEST_CASE_METHOD(cu::Context, "two arrays in one page are pinned and unpinned independently") {
  std::vector<char> array(kBytes);
  Pin first = pin(array.data(), 1000);
  const Pin second = pin(array.data() + 1000, 1000);
  CHECK(is_pinned(array.data() + 1999));
  first.reset();
  CHECK_FALSE(is_pinned(array.data()));
  CHECK(is_pinned(array.data() + 1999));
}

TEST_CASE_METHOD(cu::Context, "invalid arguments are an error") {
  CHECK_THROWS_AS(pin(nullptr, kBytes), cu::Error);
  std::vector<char> array(kBytes);
  CHECK_THROWS_AS(pin(array.data(), 0), cu::Error);
}

TEST_CASE_METHOD(cu::Context, "every error except an array that is already registered is thrown") {
  std::vector<char> array(kBytes);
  CHECK(ignored_failure({"cuMemHostRegister"}, [&] { pin(array.data(), kBytes); }) == "");
}
