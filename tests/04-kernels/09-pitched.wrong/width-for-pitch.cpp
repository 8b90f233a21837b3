// Rejected with: "the whole image is copied without its padding"
// On the device, the distance between rows is the pitch, not the width.
#include "common/cu.hpp"

#include <vector>

struct Image {
  CUdeviceptr address;
  std::size_t pitch;
  int width, height;
};

std::vector<float> crop(const Image& image, int x, int y, int width, int height) {
  if (x < 0 || y < 0 || width < 0 || height < 0 || x + width > image.width || y + height > image.height) {
    CU_THROW(CUDA_ERROR_INVALID_VALUE);
  }
  std::vector<float> part(width * height);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = image.address;
  copy.srcPitch = image.width * sizeof(float);
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
