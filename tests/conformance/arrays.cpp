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
  for (const auto& [wished, made] :
       {std::pair(0u, 1u), std::pair(99u, 5u)}) {  // by the manual: at least 1, at most all
    ANSWERS(cuMipmappedArrayCreate(&m, &d, wished), CUDA_SUCCESS);
    ANSWERS(cuMipmappedArrayGetLevel(&level, m, made - 1), CUDA_SUCCESS);
    ANSWERS(cuMipmappedArrayGetLevel(&level, m, made), CUDA_ERROR_INVALID_VALUE);
    ANSWERS(cuMipmappedArrayDestroy(m), CUDA_SUCCESS);
  }
}

FRESH_CASE("The simulator has no sparse arrays, and says so", "[array]") {
  const auto made = conformance::context();
  if (!conformance::on_simulator()) SKIP_TEST("a GPU has sparse arrays");
  int supported = 1;
  ANSWERS(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED, made.dev), CUDA_SUCCESS);
  CHECK(supported == 0);
  CUDA_ARRAY3D_DESCRIPTOR d{};
  d.Width = d.Height = 1024;
  d.Format = CU_AD_FORMAT_FLOAT;
  d.NumChannels = 1;
  d.Flags = CUDA_ARRAY3D_SPARSE;
  CUarray array = nullptr;
  CUmipmappedArray mipmap = nullptr;
  ANSWERS(cuArray3DCreate(&array, &d), CUDA_ERROR_NOT_SUPPORTED);
  ANSWERS(cuMipmappedArrayCreate(&mipmap, &d, 11), CUDA_ERROR_NOT_SUPPORTED);
  CUmemAllocationProp tiles{};
  tiles.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  tiles.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  tiles.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL;
  CUmemGenericAllocationHandle memory = 0;
  ANSWERS(cuMemCreate(&memory, 2 << 20, &tiles, 0), CUDA_ERROR_NOT_SUPPORTED);
}

// Waits, then reads a texel: wait_and_fetch(texture, out, nanoseconds).
static const char* const kWaitAndFetch = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry wait_and_fetch(.param .u64 texture, .param .u64 out, .param .u64 nanoseconds) {
  .reg .u64 %t, %out, %begin, %now, %span;
  .reg .u32 %r<4>;
  .reg .s32 %x;
  .reg .pred %early;
  ld.param.u64 %t, [texture];
  ld.param.u64 %out, [out];
  ld.param.u64 %span, [nanoseconds];
  mov.u64 %begin, %globaltimer;
again:
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %begin;
  setp.lt.u64 %early, %now, %span;
  @%early bra again;
  mov.s32 %x, 5;
  tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%t, {%x}];
  st.global.u32 [%out], %r0;
  ret;
}
)";

// Hardware gives the place of a destroyed object to the next that is made, so the other one here has the same texels.
FRESH_CASE("A texture object that is destroyed still serves the kernels that were launched with it", "[array]") {
  conformance::context();
  CUmodule module = nullptr;
  CUfunction fetch = nullptr;
  CU_CHECK(cuModuleLoadData(&module, kWaitAndFetch));
  CU_CHECK(cuModuleGetFunction(&fetch, module, "wait_and_fetch"));
  CUdeviceptr texels = 0, out = 0;
  CU_CHECK(cuMemAlloc(&texels, 4096));
  CU_CHECK(cuMemAlloc(&out, 4));
  CU_CHECK(cuMemsetD32(texels, 77, 1024));
  CUDA_RESOURCE_DESC resource = {};
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear.devPtr = texels;
  resource.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT32;
  resource.res.linear.numChannels = 1;
  resource.res.linear.sizeInBytes = 4096;
  CUDA_TEXTURE_DESC how = {};
  how.flags = CU_TRSF_READ_AS_INTEGER;
  CUtexObject texture = 0, another = 0;
  ANSWERS(cuTexObjectCreate(&texture, &resource, &how, nullptr), CUDA_SUCCESS);
  CUstream stream = nullptr;
  CU_CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  long long nanoseconds = 100'000'000;
  void* arguments[] = {&texture, &out, &nanoseconds};
  ANSWERS(cuLaunchKernel(fetch, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr), CUDA_SUCCESS);
  ANSWERS(cuTexObjectDestroy(texture), CUDA_SUCCESS);
  ANSWERS(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);  // it did not wait
  ANSWERS(cuTexObjectCreate(&another, &resource, &how, nullptr), CUDA_SUCCESS);
  ANSWERS(cuStreamSynchronize(stream), CUDA_SUCCESS);
  unsigned value = 0;
  ANSWERS(cuMemcpyDtoH(&value, out, 4), CUDA_SUCCESS);
  CHECK(value == 77);
  ANSWERS(cuTexObjectDestroy(another), CUDA_SUCCESS);
  ANSWERS(cuTexObjectDestroy(0), CUDA_SUCCESS);
}

FRESH_CASE("A copy wants an array, and a linear texture is as wide as its texels are small", "[array]") {
  const conformance::Context made = conformance::context();
  CUDA_ARRAY_DESCRIPTOR shape{64, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1};
  CUarray array = nullptr;
  CUdeviceptr memory = 0;
  CU_CHECK(cuArrayCreate(&array, &shape));
  CU_CHECK(cuMemAlloc(&memory, 64));
  ANSWERS(cuMemcpyAtoA(nullptr, 0, array, 0, 4), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemcpyAtoA(array, 0, nullptr, 0, 4), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemcpyAtoD(memory, nullptr, 0, 4), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemcpyAtoD(memory, array, 0, 65), CUDA_ERROR_INVALID_VALUE);
  const struct {
    CUarray_format format;
    unsigned channels;
    std::size_t width;
  } known[] = {{CU_AD_FORMAT_UNSIGNED_INT8, 1, 1u << 30}, {CU_AD_FORMAT_UNSIGNED_INT8, 4, 1u << 30},
               {CU_AD_FORMAT_HALF, 2, 1u << 30},          {CU_AD_FORMAT_SIGNED_INT16, 4, 1u << 29},
               {CU_AD_FORMAT_FLOAT, 1, 1u << 30},         {CU_AD_FORMAT_FLOAT, 2, 1u << 29},
               {CU_AD_FORMAT_UNSIGNED_INT32, 4, 1u << 28}};
  std::size_t width = 0;
  for (const auto& [format, channels, wanted] : known) {
    CAPTURE(format, channels);
    ANSWERS(cuDeviceGetTexture1DLinearMaxWidth(&width, format, channels, made.dev), CUDA_SUCCESS);
    CHECK(width == wanted);
  }
  const auto none = static_cast<CUarray_format>(0);
  ANSWERS(cuDeviceGetTexture1DLinearMaxWidth(&width, none, 1, made.dev), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 3, made.dev), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 1, 9), CUDA_ERROR_INVALID_DEVICE);
}

FRESH_CASE("No surface can be destroyed, and a texture twice", "[array]") {
  conformance::context();
  ANSWERS(cuSurfObjectDestroy(0), CUDA_SUCCESS);
  CUDA_RESOURCE_DESC linear{};
  CUDA_TEXTURE_DESC how{};
  CUtexObject texture = 0;
  CUdeviceptr p = 0;
  CU_CHECK(cuMemAlloc(&p, 4096));
  linear.resType = CU_RESOURCE_TYPE_LINEAR;
  linear.res.linear.devPtr = p;
  linear.res.linear.format = CU_AD_FORMAT_FLOAT;
  linear.res.linear.numChannels = 1;
  linear.res.linear.sizeInBytes = 1024;
  how.flags = 0x100;
  ANSWERS(cuTexObjectCreate(&texture, &linear, &how, nullptr), CUDA_ERROR_INVALID_VALUE);
  how.flags = 0;
  ANSWERS(cuTexObjectCreate(&texture, &linear, &how, nullptr), CUDA_SUCCESS);
  ANSWERS(cuTexObjectDestroy(texture), CUDA_SUCCESS);
  ANSWERS(cuTexObjectDestroy(texture), CUDA_SUCCESS);
}

FRESH_CASE("An array's format fixes its channels, and not every bit is a flag", "[array]") {
  conformance::context();
  for (int format : {0x40, 0x63, 0x70, 0x91, 0x9d, 0xb0}) {
    CUDA_ARRAY3D_DESCRIPTOR d{16, 16, 0, static_cast<CUarray_format>(format), 1, 0};
    CUarray array = nullptr;
    CAPTURE(format);
    ANSWERS(cuArray3DCreate(&array, &d), CUDA_ERROR_INVALID_VALUE);
  }
  for (unsigned flags : {0x10u, 0x20u, 0x1000u}) {
    CUDA_ARRAY3D_DESCRIPTOR d{16, 16, 0, CU_AD_FORMAT_FLOAT, 1, flags};
    CUarray array = nullptr;
    CAPTURE(flags);
    ANSWERS(cuArray3DCreate(&array, &d), CUDA_ERROR_INVALID_VALUE);
  }
}
