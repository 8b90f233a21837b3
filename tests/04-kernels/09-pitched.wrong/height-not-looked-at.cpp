// Rejected with: "a rectangle that ends below the image is rejected, although the allocation continues"
// It relies on the driver, which knows where the allocation ends but not where the image does.
#include "common/cu.hpp"

#include <vector>

struct Image {
  CUdeviceptr address;
  std::size_t pitch;
  int width, height;  // in floats and rows
};

std::vector<float> crop(const Image& image, int x, int y, int width, int height) {
  if (x < 0 || y < 0 || width < 0 || height < 0 || x + width > image.width) {
    CU_THROW(CUDA_ERROR_INVALID_VALUE);
  }
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
