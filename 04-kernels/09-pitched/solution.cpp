// Copy a rectangle out of an image on the device.
#include "common/cu.hpp"

#include <vector>

// An image of floats in device memory. Its rows are `pitch` bytes apart.
struct Image {
  CUdeviceptr address;
  std::size_t pitch;
  int width, height;  // in floats, and in rows
};

// Returns the floats of a rectangle, row after row and without gaps: `width` by `height`, from column x of row y. A
// single copy call is enough. Throws cu::Error if a driver call fails (CU_THROW), and if the rectangle is not inside
// the image (CU_THROW(CUDA_ERROR_INVALID_VALUE)): the driver knows the allocation, but not the image.
std::vector<float> crop(const Image& image, int x, int y, int width, int height) {
  // Sums of two numbers could overflow an int, so the comparisons use differences.
  if (x < 0 || y < 0 || width < 0 || height < 0 || width > image.width - x || height > image.height - y) {
    CU_THROW(CUDA_ERROR_INVALID_VALUE);
  }
  std::vector<float> part(std::size_t(width) * height);
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
