// Rejected with: "a rectangle that reaches into the padding is rejected"
// The driver checks the allocation. Only the program knows that a row ends before its pitch does.
#include "common/cu.hpp"

#include <vector>

struct Image {
  CUdeviceptr address;
  std::size_t pitch;
  int width, height;
};

std::vector<float> crop(const Image& image, int x, int y, int width, int height) {
  std::vector<float> part(width * height);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = image.address;
  copy.srcPitch = image.pitch;
  copy.srcXInBytes = x * sizeof(float);
  copy.srcY = y;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = part.data();
  copy.dstPitch = width * sizeof(float);
  copy.WidthInBytes = width * sizeof(float);
  copy.Height = height;
  CU_THROW(cuMemcpy2D(&copy));
  return part;
}
