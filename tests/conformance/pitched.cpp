// Rows with padding, and two-dimensional copies and fills.
#include "tests/conformance/scenario.hpp"

FRESH_CASE("Rows are padded to the pitch, and two-dimensional copies stay within it", "[pitch]") {
  conformance::context();
  CUdeviceptr p = 0;
  std::size_t pitch = 0;
  ANSWERS(cuMemAllocPitch(&p, &pitch, 100, 10, 4), CUDA_SUCCESS);
  SHOWS("pitch 512", "pitch " << pitch);
  ANSWERS(cuMemAllocPitch(&p, &pitch, 513, 10, 16), CUDA_SUCCESS);
  SHOWS("pitch 1024", "pitch " << pitch);
  ANSWERS(cuMemAllocPitch(&p, &pitch, 100, 10, 3), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemAllocPitch(&p, &pitch, 0, 10, 4), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemAllocPitch(&p, &pitch, 100, 0, 4), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemAllocPitch(&p, &pitch, 100, 8, 4), CUDA_SUCCESS);

  unsigned char in[800], out[800] = {};
  for (std::size_t i = 0; i < sizeof in; ++i) in[i] = static_cast<unsigned char>(i);
  CUDA_MEMCPY2D c = {};
  c.srcMemoryType = CU_MEMORYTYPE_HOST;
  c.srcHost = in;
  c.srcPitch = 100;
  c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  c.dstDevice = p;
  c.dstPitch = pitch;
  c.WidthInBytes = 100;
  c.Height = 8;
  ANSWERS(cuMemcpy2D(&c), CUDA_SUCCESS);
  c.srcPitch = 99;  // shorter than a row
  ANSWERS(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);
  c.srcPitch = 100;
  c.Height = 80;  // beyond the allocation
  ANSWERS(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);
  c.Height = 0;
  ANSWERS(cuMemcpy2D(&c), CUDA_SUCCESS);
  c.Height = 8;
  c.srcHost = nullptr;
  ANSWERS(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemcpy2D(nullptr), CUDA_ERROR_INVALID_VALUE);

  CUDA_MEMCPY2D back = {};
  back.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  back.srcDevice = p;
  back.srcPitch = pitch;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = out;
  back.dstPitch = 100;
  back.WidthInBytes = 100;
  back.Height = 8;
  CU_CHECK(cuMemcpy2D(&back));
  CHECK(std::memcmp(in, out, sizeof in) == 0);

  ANSWERS(cuMemsetD2D8(p, pitch, 1, 100, 8), CUDA_SUCCESS);
  ANSWERS(cuMemsetD2D32(p, pitch, 1, 25, 8), CUDA_SUCCESS);
  CU_CHECK(cuMemcpy2D(&back));
  CHECK(out[0] == 1);
  CHECK(out[1] == 0);
  CHECK(out[796] == 1);
}

FRESH_CASE("A box is copied out of the middle of another", "[pitch]") {
  conformance::context();
  constexpr std::size_t width = 16, height = 8, depth = 4;
  std::vector<unsigned char> in(width * height * depth), out(6 * 3 * 2);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned char>(i);
  CUdeviceptr p = 0;
  CU_CHECK(cuMemAlloc(&p, in.size()));
  CU_CHECK(cuMemcpyHtoD(p, in.data(), in.size()));
  CUDA_MEMCPY3D c = {};
  c.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  c.srcDevice = p;
  c.srcPitch = width;
  c.srcHeight = height;
  c.srcXInBytes = 5;
  c.srcY = 4;
  c.srcZ = 1;
  c.dstMemoryType = CU_MEMORYTYPE_HOST;
  c.dstHost = out.data();
  c.dstPitch = 6;
  c.dstHeight = 3;
  c.WidthInBytes = 6;
  c.Height = 3;
  c.Depth = 2;
  ANSWERS(cuMemcpy3D(&c), CUDA_SUCCESS);
  for (std::size_t z = 0; z < 2; ++z) {
    for (std::size_t y = 0; y < 3; ++y) {
      CAPTURE(z, y);
      CHECK(std::memcmp(&out[(z * 3 + y) * 6], &in[((z + 1) * height + y + 4) * width + 5], 6) == 0);
    }
  }
  c.Depth = 4;  // one slice too many
  ANSWERS(cuMemcpy3D(&c), CUDA_ERROR_INVALID_VALUE);
}
