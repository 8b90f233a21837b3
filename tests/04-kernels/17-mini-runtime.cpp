// Checks the exercise of 04-kernels/17-mini-runtime: copy_2d() in every direction, with different pitches.
#include "common/cu.hpp"
#include "tests/catch.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <vector>

cudaError_t copy_2d(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                    std::size_t height, cudaMemcpyKind kind);

namespace {

using Bytes = std::vector<unsigned char>;

void* pointer(const cu::Memory& memory) { return reinterpret_cast<void*>(memory.address); }

// Five rows of 12 bytes, with a pitch of 20 on one side and 32 on the other. The gaps between rows must stay unchanged.
// Every array has room for the wide pitch, so a wrong pitch is detected and writes nowhere else.
struct Rectangles {
  static constexpr std::size_t width = 12, height = 5, narrow = 20, wide = 32;
  static constexpr unsigned char gap = 0xee;

  cu::Context context;
  cu::Memory there{wide * height};
  Bytes here = Bytes(wide * height, gap);

  Rectangles() {
    for (std::size_t y = 0; y < height; ++y) {
      for (std::size_t x = 0; x < width; ++x) here[y * narrow + x] = number(x, y);
    }
    CU_THROW(cuMemsetD8(there.address, gap, wide * height));
  }

  static unsigned char number(std::size_t x, std::size_t y) { return static_cast<unsigned char>(16 * y + x); }

  // Expects the rows at this pitch, with unchanged gaps between them.
  static void expect(const Bytes& bytes, std::size_t pitch) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const std::size_t x = i % pitch, y = i / pitch;
      CAPTURE(x, y, pitch);
      REQUIRE(int{bytes[i]} == int{x < width && y < height ? number(x, y) : gap});
    }
  }

  Bytes on_device() const {
    Bytes bytes(wide * height);
    CU_THROW(cuMemcpyDtoH(bytes.data(), there.address, bytes.size()));
    return bytes;
  }

  void copy_to_device() {
    REQUIRE(copy_2d(pointer(there), wide, here.data(), narrow, width, height, cudaMemcpyHostToDevice) == cudaSuccess);
  }
};

}  // namespace

TEST_CASE_METHOD(Rectangles, "rows are copied to the device with both pitches") {
  copy_to_device();
  expect(on_device(), wide);
}

TEST_CASE_METHOD(Rectangles, "rows are copied back to the host") {
  copy_to_device();
  Bytes back(wide * height, gap);
  REQUIRE(copy_2d(back.data(), narrow, pointer(there), wide, width, height, cudaMemcpyDeviceToHost) == cudaSuccess);
  expect(back, narrow);
}

TEST_CASE_METHOD(Rectangles, "rows are copied on the device, and on the host") {
  copy_to_device();
  cu::Memory other(wide * height);
  CU_THROW(cuMemsetD8(other.address, gap, wide * height));
  REQUIRE(copy_2d(pointer(other), narrow, pointer(there), wide, width, height, cudaMemcpyDeviceToDevice) ==
          cudaSuccess);
  Bytes back(wide * height);
  CU_THROW(cuMemcpyDtoH(back.data(), other.address, back.size()));
  expect(back, narrow);

  Bytes apart(wide * height, gap);
  REQUIRE(copy_2d(apart.data(), wide, here.data(), narrow, width, height, cudaMemcpyHostToHost) == cudaSuccess);
  expect(apart, wide);
}

TEST_CASE_METHOD(Rectangles, "the driver finds the direction") {
  cu::Pinned pinned(here.size());
  std::copy(here.begin(), here.end(), pinned.as<unsigned char>());
  REQUIRE(copy_2d(pointer(there), wide, pinned.address, narrow, width, height, cudaMemcpyDefault) == cudaSuccess);
  expect(on_device(), wide);

  std::fill_n(pinned.as<unsigned char>(), here.size(), gap);
  REQUIRE(copy_2d(pinned.address, narrow, pointer(there), wide, width, height, cudaMemcpyDefault) == cudaSuccess);
  expect(Bytes(pinned.as<unsigned char>(), pinned.as<unsigned char>() + here.size()), narrow);
}

TEST_CASE_METHOD(Rectangles, "rows may have no gap between them") {
  copy_to_device();
  Bytes back(wide * height, gap);
  REQUIRE(copy_2d(back.data(), width, pointer(there), wide, width, height, cudaMemcpyDeviceToHost) == cudaSuccess);
  expect(back, width);
  REQUIRE(copy_2d(pointer(there), wide, back.data(), width, width, height, cudaMemcpyHostToDevice) == cudaSuccess);
  expect(on_device(), wide);
}

TEST_CASE_METHOD(Rectangles, "a row longer than its pitch is rejected") {
  CHECK(copy_2d(pointer(there), wide, here.data(), width - 1, width, height, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidPitchValue);
  CHECK(copy_2d(pointer(there), width - 1, here.data(), narrow, width, height, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidPitchValue);
  CHECK(on_device() == Bytes(wide * height, gap));
}

TEST_CASE_METHOD(Rectangles, "an unknown direction is rejected") {
  CHECK(copy_2d(pointer(there), wide, here.data(), narrow, width, height, static_cast<cudaMemcpyKind>(17)) ==
        cudaErrorInvalidMemcpyDirection);
}

TEST_CASE_METHOD(Rectangles, "the driver's errors are returned") {
  CHECK(copy_2d(nullptr, wide, here.data(), narrow, width, height, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);

  CUcontext ours = nullptr;
  CU_THROW(cuCtxPopCurrent(&ours));
  const cudaError_t without_context =
      copy_2d(pointer(there), wide, here.data(), narrow, width, height, cudaMemcpyHostToDevice);
  CU_THROW(cuCtxPushCurrent(ours));
  CHECK(without_context == cudaErrorDeviceUninitialized);
}
