// Rejected with: "a single copy call is enough"
// One call per row: the result is correct, and each call has its own overhead.
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
  for (int row = 0; row < height; ++row) {
    const CUdeviceptr from = image.address + (y + row) * image.pitch + x * sizeof(float);
    CU_THROW(cuMemcpyDtoH(part.data() + row * width, from, width * sizeof(float)));
  }
  return part;
}
