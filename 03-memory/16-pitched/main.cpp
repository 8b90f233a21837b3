// Keeps a picture in device memory with padded rows, fills and copies rectangles of it, and forgets the padding once.
#include "common/cu.hpp"

#include <string>

constexpr int kWidth = 26, kHeight = 5;  // of the picture, in bytes and rows

// Where a rectangle lies in an image: the address of the image, how far its rows are apart, and the corner.
CUDA_MEMCPY2D copy_to_host(CUdeviceptr device, std::size_t pitch, int x, int y, int width, int height, char* host) {
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = device;
  copy.srcPitch = pitch;
  copy.srcXInBytes = x;
  copy.srcY = y;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = host;
  copy.dstPitch = width;  // the rows on the host lie end to end
  copy.WidthInBytes = width;
  copy.Height = height;
  return copy;
}

void show(const char* title, const std::string& bytes, int width) {
  std::printf("\n%s\n", title);
  for (std::size_t row = 0; row < bytes.size(); row += width) std::printf("  %s\n", bytes.substr(row, width).c_str());
}

int main() try {
  cu::Context context;
  std::printf("bytes in a row | pitch\n");
  for (const std::size_t width : {1, 26, 512, 513, 1920, 4097}) {
    CUdeviceptr image;
    std::size_t pitch;
    CU_CHECK(cuMemAllocPitch(&image, &pitch, width, kHeight, 4));
    std::printf("%14zu | %5zu\n", width, pitch);
    CU_CHECK(cuMemFree(image));
  }

  std::string picture;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) picture += static_cast<char>('a' + x);
  }

  CUdeviceptr image;
  std::size_t pitch;
  CU_CHECK(cuMemAllocPitch(&image, &pitch, kWidth, kHeight, 4));
  CU_CHECK(cuMemsetD8(image, '~', pitch * kHeight));  // padding and all, so that it can be seen

  CUDA_MEMCPY2D in{};
  in.srcMemoryType = CU_MEMORYTYPE_HOST;
  in.srcHost = picture.data();
  in.srcPitch = kWidth;
  in.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  in.dstDevice = image;
  in.dstPitch = pitch;
  in.WidthInBytes = kWidth;
  in.Height = kHeight;
  CU_CHECK(cuMemcpy2D(&in));

  // A rectangle of 10 by 3 bytes, its corner at column 4 of row 1.
  CU_CHECK(cuMemsetD2D8(image + 1 * pitch + 4, pitch, '#', 10, 3));

  std::string back(kWidth * kHeight, ' '), part(12 * 2, ' '), flat(kWidth * kHeight, ' ');
  const CUDA_MEMCPY2D all = copy_to_host(image, pitch, 0, 0, kWidth, kHeight, back.data());
  CU_CHECK(cuMemcpy2D(&all));
  show("the picture, copied back", back, kWidth);
  const CUDA_MEMCPY2D some = copy_to_host(image, pitch, 2, 3, 12, 2, part.data());
  CU_CHECK(cuMemcpy2D(&some));
  show("a part of it, 12 by 2 from column 2 of row 3", part, 12);
  CU_CHECK(cuMemcpyDtoH(flat.data(), image, flat.size()));
  show("copied as if there were no padding", flat, kWidth);

  CU_CHECK(cuMemFree(image));
  const bool right = part == "cd##########cdefghijklmn" && back.substr(0, kWidth) == picture.substr(0, kWidth);
  return right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
