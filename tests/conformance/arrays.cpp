// CUDA arrays: made, described, copied to and from, ended.
#include "tests/conformance/scenario.hpp"

FRESH_CASE("An array keeps what a two-dimensional copy put there", "[array]") {
  conformance::context();
  CUDA_ARRAY_DESCRIPTOR d = {};
  d.Width = 20;
  d.Height = 10;
  d.Format = CU_AD_FORMAT_FLOAT;
  d.NumChannels = 2;
  CUarray a = nullptr, none = nullptr;
  ANSWERS(cuArrayCreate(&a, &d), CUDA_SUCCESS);
  CUDA_ARRAY_DESCRIPTOR got = {};
  ANSWERS(cuArrayGetDescriptor(&got, a), CUDA_SUCCESS);
  CHECK(got.Width == 20);
  CHECK(got.Height == 10);
  CHECK(got.Format == CU_AD_FORMAT_FLOAT);
  CHECK(got.NumChannels == 2);
  d.NumChannels = 3;
  ANSWERS(cuArrayCreate(&none, &d), CUDA_ERROR_INVALID_VALUE);
  d.NumChannels = 2;
  d.Width = 0;
  ANSWERS(cuArrayCreate(&none, &d), CUDA_ERROR_INVALID_VALUE);

  std::vector<unsigned char> in(160 * 10), out(160 * 10);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned char>(i * 3);
  CUDA_MEMCPY2D c = {};
  c.srcMemoryType = CU_MEMORYTYPE_HOST;
  c.srcHost = in.data();
  c.srcPitch = 160;
  c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  c.dstArray = a;
  c.WidthInBytes = 160;
  c.Height = 10;
  ANSWERS(cuMemcpy2D(&c), CUDA_SUCCESS);
  c.Height = 11;
  ANSWERS(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMCPY2D back = {};
  back.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  back.srcArray = a;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = out.data();
  back.dstPitch = 160;
  back.WidthInBytes = 160;
  back.Height = 10;
  ANSWERS(cuMemcpy2D(&back), CUDA_SUCCESS);
  CHECK(in == out);
  ANSWERS(cuMemcpyAtoH(out.data(), a, 8, 16), CUDA_SUCCESS);
  CHECK(std::memcmp(out.data(), in.data() + 8, 16) == 0);
  ANSWERS(cuArrayDestroy(a), CUDA_SUCCESS);
}

FRESH_CASE("A box moves through a three-dimensional array", "[array]") {
  conformance::context();
  CUDA_ARRAY3D_DESCRIPTOR d = {};
  d.Width = 8;
  d.Height = 4;
  d.Depth = 3;
  d.Format = CU_AD_FORMAT_UNSIGNED_INT8;
  d.NumChannels = 1;
  CUarray a = nullptr;
  ANSWERS(cuArray3DCreate(&a, &d), CUDA_SUCCESS);
  std::vector<unsigned char> in(96), out(96);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned char>(i);
  CUDA_MEMCPY3D c = {};
  c.srcMemoryType = CU_MEMORYTYPE_HOST;
  c.srcHost = in.data();
  c.srcPitch = 8;
  c.srcHeight = 4;
  c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  c.dstArray = a;
  c.WidthInBytes = 8;
  c.Height = 4;
  c.Depth = 3;
  ANSWERS(cuMemcpy3D(&c), CUDA_SUCCESS);
  CUDA_MEMCPY3D back = {};
  back.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  back.srcArray = a;
  back.srcXInBytes = 2;
  back.srcY = 1;
  back.srcZ = 2;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = out.data();
  back.dstPitch = 3;
  back.dstHeight = 2;
  back.WidthInBytes = 3;
  back.Height = 2;
  back.Depth = 1;
  ANSWERS(cuMemcpy3D(&back), CUDA_SUCCESS);
  CHECK(out[0] == 2 * 32 + 8 + 2);
  CHECK(out[3] == 2 * 32 + 16 + 2);
  ANSWERS(cuArrayDestroy(a), CUDA_SUCCESS);
}

FRESH_CASE("A mipmapped array has a level for each halving", "[array]") {
  conformance::context();
  CUDA_ARRAY3D_DESCRIPTOR d = {}, got = {};
  d.Width = 16;
  d.Height = 8;
  d.Format = CU_AD_FORMAT_FLOAT;
  d.NumChannels = 1;
  CUmipmappedArray m = nullptr;
  CUarray level = nullptr;
  ANSWERS(cuMipmappedArrayCreate(&m, &d, 3), CUDA_SUCCESS);
  ANSWERS(cuMipmappedArrayGetLevel(&level, m, 2), CUDA_SUCCESS);
  ANSWERS(cuArray3DGetDescriptor(&got, level), CUDA_SUCCESS);
  CHECK(got.Width == 4);
  CHECK(got.Height == 2);
  ANSWERS(cuMipmappedArrayGetLevel(&level, m, 3), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMipmappedArrayDestroy(m), CUDA_SUCCESS);
}
