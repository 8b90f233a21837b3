// Checks the learner's crop() (exercise of 04-kernels/09-pitched).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <climits>
#include <vector>

struct Image {
  CUdeviceptr address;
  std::size_t pitch;
  int width, height;
};

std::vector<float> crop(const Image& image, int x, int y, int width, int height);

namespace {

constexpr int kWidth = 100, kHeight = 40;
int copies_without_rectangles = 0;

// An image whose float in column x of row y is 1000 * y + x; the padding is -1.
struct Picture : cu::Context {
  Image image{0, 0, kWidth, kHeight};

  Picture() {
    CU_CHECK(cuMemAllocPitch(&image.address, &image.pitch, kWidth * sizeof(float), kHeight, 4));
    std::vector<float> all(image.pitch / sizeof(float) * kHeight, -1.0f);
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) all[y * (image.pitch / sizeof(float)) + x] = static_cast<float>(1000 * y + x);
    }
    CU_CHECK(cuMemcpyHtoD(image.address, all.data(), image.pitch * kHeight));
  }
  ~Picture() { CU_REPORT(cuMemFree(image.address)); }
};

std::vector<float> expected(int x, int y, int width, int height) {
  std::vector<float> floats;
  for (int row = y; row < y + height; ++row) {
    for (int column = x; column < x + width; ++column) floats.push_back(static_cast<float>(1000 * row + column));
  }
  return floats;
}

}  // namespace

CUresult cuMemcpyDtoH(void* host, CUdeviceptr device, std::size_t bytes) {
  ++copies_without_rectangles;
  return DRIVERS(cuMemcpyDtoH)(host, device, bytes);
}

TEST_CASE_METHOD(Picture, "the whole image is copied without its padding") {
  CHECK((crop(image, 0, 0, kWidth, kHeight) == expected(0, 0, kWidth, kHeight)));
}

TEST_CASE_METHOD(Picture, "a rectangle from the middle is copied") {
  CHECK((crop(image, 17, 5, 20, 10) == expected(17, 5, 20, 10)));
}

TEST_CASE_METHOD(Picture, "the last float of the last row is copied") {
  CHECK((crop(image, kWidth - 1, kHeight - 1, 1, 1) == expected(kWidth - 1, kHeight - 1, 1, 1)));
}

TEST_CASE_METHOD(Picture, "a rectangle without rows is empty") { CHECK(crop(image, 3, 3, 5, 0).empty()); }

TEST_CASE_METHOD(Picture, "a rectangle that reaches into the padding is rejected") {
  CHECK_THROWS_AS(crop(image, kWidth - 5, 0, 6, 2), cu::Error);
  CHECK_THROWS_AS(crop(image, 0, kHeight - 1, 6, 2), cu::Error);
}

TEST_CASE_METHOD(Picture, "a single copy call is enough") {
  const int before = copies_without_rectangles;
  CHECK((crop(image, 17, 5, 20, 10) == expected(17, 5, 20, 10)));
  CHECK(copies_without_rectangles == before);
}

TEST_CASE_METHOD(Picture, "a rectangle that ends below the image is rejected, although the allocation continues") {
  Image upper = image;
  upper.height = kHeight / 2;
  CHECK((crop(upper, 0, kHeight / 2 - 1, 5, 1) == expected(0, kHeight / 2 - 1, 5, 1)));
  CHECK_THROWS_AS(crop(upper, 0, kHeight / 2 - 1, 5, 2), cu::Error);
  CHECK_THROWS_AS(crop(upper, 0, -1, 5, 2), cu::Error);
}

TEST_CASE_METHOD(Picture, "a driver error is thrown") {
  const Image nowhere{0, image.pitch, kWidth, kHeight};
  CHECK_THROWS_AS(crop(nowhere, 17, 5, 20, 10), cu::Error);
}

TEST_CASE_METHOD(Picture, "a rectangle left of the image, or of negative size, is rejected") {
  CHECK_THROWS_AS(crop(image, -1, 5, 6, 2), cu::Error);
  CHECK_THROWS_AS(crop(image, 50, 20, -5, 2), cu::Error);
  CHECK_THROWS_AS(crop(image, 50, 20, -5, -5), cu::Error);
}

TEST_CASE_METHOD(Picture, "a rectangle far outside the image is rejected") {
  CHECK_THROWS_AS(crop(image, INT_MAX, 0, 1, 1), cu::Error);
  CHECK_THROWS_AS(crop(image, 5, INT_MAX, 1, 1), cu::Error);
  CHECK_THROWS_AS(crop(image, 5, 5, 1, INT_MAX), cu::Error);
}
