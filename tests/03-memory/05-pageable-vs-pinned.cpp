// Self-check of 03-memory/05-pageable-vs-pinned: judges the learner's pinned_floats().
#include "common/cu.hpp"
#include "tests/catch.hpp"

#include <memory>
#include <vector>

using PinnedFloats = std::unique_ptr<float[], void (*)(float*)>;

PinnedFloats pinned_floats(std::size_t count);

namespace {

constexpr std::size_t kCount = 1 << 20;

// What the driver says of an address of the host: it knows page-locked memory, and no other.
bool page_locked(const void* address) {
  unsigned int type;
  const auto asked = reinterpret_cast<CUdeviceptr>(address);
  return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, asked) == CUDA_SUCCESS &&
         type == CU_MEMORYTYPE_HOST;
}

}  // namespace

TEST_CASE_METHOD(cu::Context, "the first float is page-locked") { CHECK(page_locked(pinned_floats(kCount).get())); }

TEST_CASE_METHOD(cu::Context, "the last float is page-locked, too") {
  const PinnedFloats floats = pinned_floats(kCount);
  CHECK(page_locked(floats.get() + kCount - 1));
}

TEST_CASE_METHOD(cu::Context, "the floats go to the device and come back") {
  const PinnedFloats floats = pinned_floats(kCount);
  REQUIRE(page_locked(floats.get() + kCount - 1));
  for (std::size_t i = 0; i < kCount; ++i) floats[i] = static_cast<float>(i);
  cu::Memory device(kCount * sizeof(float));
  CU_CHECK(cuMemcpyHtoD(device.address, floats.get(), kCount * sizeof(float)));
  std::vector<float> back(kCount);
  CU_CHECK(cuMemcpyDtoH(back.data(), device.address, kCount * sizeof(float)));
  CHECK(back.front() == 0.0f);
  CHECK(back.back() == static_cast<float>(kCount - 1));
}

TEST_CASE_METHOD(cu::Context, "they are freed when their owner ends") {
  const float* address = nullptr;
  {
    const PinnedFloats floats = pinned_floats(kCount);
    address = floats.get();
    REQUIRE(page_locked(address));
  }
  CHECK_FALSE(page_locked(address));
}

TEST_CASE_METHOD(cu::Context, "of two arrays, each is freed with its own owner") {
  PinnedFloats first = pinned_floats(kCount);
  const PinnedFloats second = pinned_floats(kCount);
  const float* const address = first.get();
  first.reset();
  CHECK_FALSE(page_locked(address));
  CHECK(page_locked(second.get()));
}

TEST_CASE_METHOD(cu::Context, "memory that cannot be had is reported") {
  CHECK_THROWS_AS(pinned_floats(std::size_t{1} << 50), cu::Error);
}
