// Checks the learner's pinned_floats() (exercise of 03-memory/04-pageable-vs-pinned).
#include "common/cu.hpp"
#include "tests/catch.hpp"

#include <memory>
#include <vector>

using PinnedFloats = std::unique_ptr<float[], void (*)(float*)>;

PinnedFloats pinned_floats(std::size_t count);

namespace {

constexpr std::size_t kCount = 1 << 20;

// The driver knows a host address only if the memory is pinned.
bool is_pinned(const void* address) {
  unsigned int type;
  const auto host = reinterpret_cast<CUdeviceptr>(address);
  return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, host) == CUDA_SUCCESS &&
         type == CU_MEMORYTYPE_HOST;
}

}  // namespace

TEST_CASE_METHOD(cu::Context, "the first float is pinned") { CHECK(is_pinned(pinned_floats(kCount).get())); }

TEST_CASE_METHOD(cu::Context, "the last float is pinned") {
  const PinnedFloats floats = pinned_floats(kCount);
  CHECK(is_pinned(floats.get() + kCount - 1));
}

TEST_CASE_METHOD(cu::Context, "the floats can be copied to the device and back") {
  const PinnedFloats floats = pinned_floats(kCount);
  REQUIRE(is_pinned(floats.get() + kCount - 1));
  for (std::size_t i = 0; i < kCount; ++i) floats[i] = static_cast<float>(i);
  cu::Memory device(kCount * sizeof(float));
  CU_CHECK(cuMemcpyHtoD(device.address, floats.get(), kCount * sizeof(float)));
  std::vector<float> back(kCount);
  CU_CHECK(cuMemcpyDtoH(back.data(), device.address, kCount * sizeof(float)));
  CHECK(back.front() == 0.0f);
  CHECK(back.back() == static_cast<float>(kCount - 1));
}

TEST_CASE_METHOD(cu::Context, "the memory is freed when its owner is destroyed") {
  const float* address = nullptr;
  {
    const PinnedFloats floats = pinned_floats(kCount);
    address = floats.get();
    REQUIRE(is_pinned(address));
  }
  CHECK_FALSE(is_pinned(address));
}

TEST_CASE_METHOD(cu::Context, "each of two arrays is freed with its own owner") {
  PinnedFloats first = pinned_floats(kCount);
  const PinnedFloats second = pinned_floats(kCount);
  const float* const address = first.get();
  first.reset();
  CHECK_FALSE(is_pinned(address));
  CHECK(is_pinned(second.get()));
}

TEST_CASE_METHOD(cu::Context, "the function throws if the driver cannot allocate the memory") {
  CHECK_THROWS_AS(pinned_floats(std::size_t{1} << 50), cu::Error);
}
