// Self-check of 03-memory/07-host-register: judges the learner's pin().
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <memory>
#include <vector>

using Pin = std::unique_ptr<void, void (*)(void*)>;

Pin pin(void* memory, std::size_t bytes);

namespace {

constexpr std::size_t kBytes = 1 << 20;

bool page_locked(const void* address) {
  unsigned int type = 0;
  const auto asked = reinterpret_cast<CUdeviceptr>(address);
  return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, asked) == CUDA_SUCCESS &&
         type == CU_MEMORYTYPE_HOST;
}

}  // namespace

MAY_BE_REFUSED(cuMemHostRegister, (void* memory, std::size_t bytes, unsigned int flags), (memory, bytes, flags))

TEST_CASE_METHOD(cu::Context, "while the Pin lives, the array is page-locked, from the first byte to the last") {
  std::vector<char> array(kBytes);
  const Pin held = pin(array.data(), kBytes);
  CHECK(page_locked(array.data()));
  CHECK(page_locked(array.data() + kBytes - 1));
}

TEST_CASE_METHOD(cu::Context, "when it ends, the array is pageable again") {
  std::vector<char> array(kBytes);
  {
    const Pin held = pin(array.data(), kBytes);
    REQUIRE(page_locked(array.data()));
  }
  CHECK_FALSE(page_locked(array.data()));
}

TEST_CASE_METHOD(cu::Context, "what is registered already stays so, also when the Pin ends") {
  std::vector<char> array(kBytes);
  CU_CHECK(cuMemHostRegister(array.data(), kBytes, 0));
  {
    const Pin held = pin(array.data(), kBytes);
    CHECK(held == nullptr);
  }
  CHECK(page_locked(array.data()));
  CU_CHECK(cuMemHostUnregister(array.data()));
}

TEST_CASE_METHOD(cu::Context, "two arrays that share a page are pinned, and freed one by one") {
  std::vector<char> array(kBytes);
  Pin first = pin(array.data(), 1000);
  const Pin second = pin(array.data() + 1000, 1000);
  CHECK(page_locked(array.data() + 1999));
  first.reset();
  CHECK_FALSE(page_locked(array.data()));
  CHECK(page_locked(array.data() + 1999));
}

TEST_CASE_METHOD(cu::Context, "what the driver refuses is thrown") {
  CHECK_THROWS_AS(pin(nullptr, kBytes), cu::Error);
  std::vector<char> array(kBytes);
  CHECK_THROWS_AS(pin(array.data(), 0), cu::Error);
}

TEST_CASE_METHOD(cu::Context, "each call is checked: only what is registered already is no error") {
  std::vector<char> array(kBytes);
  CHECK(goes_on({"cuMemHostRegister"}, [&] { pin(array.data(), kBytes); }) == "");
}
