// The first versions of functions, by their bare names, as ctypes and dlsym find them: device pointers and sizes have
// 32 bits, and the device memory of a context that the first cuCtxCreate makes is below 4 GiB.
#include "tests/conformance/scenario.hpp"

#include <dlfcn.h>

#undef cuArray3DCreate
#undef cuArray3DGetDescriptor
#undef cuArrayCreate
#undef cuArrayGetDescriptor
#undef cuCtxCreate
#undef cuCtxDestroy
#undef cuDeviceTotalMem
#undef cuMemAlloc
#undef cuMemAllocHost
#undef cuMemAllocPitch
#undef cuMemFree
#undef cuMemGetAddressRange
#undef cuMemGetInfo
#undef cuMemcpy2D
#undef cuMemcpyAtoH
#undef cuMemcpyDtoD
#undef cuMemcpyDtoH
#undef cuMemcpyHtoA
#undef cuMemcpyHtoD
#undef cuMemcpyHtoDAsync
#undef cuMemsetD32
#undef cuMemsetD8
#undef cuModuleGetGlobal

namespace {

using Size = unsigned;
using Pointer = unsigned;

template <class Function>
Function bare(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

struct Array {
  Size width, height;
  CUarray_format format;
  unsigned channels;
};

struct Copy2D {
  Size src_x, src_y;
  CUmemorytype src_type;
  const void* src_host;
  Pointer src_device;
  CUarray src_array;
  Size src_pitch, dst_x, dst_y;
  CUmemorytype dst_type;
  void* dst_host;
  Pointer dst_device;
  CUarray dst_array;
  Size dst_pitch, width, height;
};

const auto cuCtxCreate = bare<CUresult (*)(CUcontext*, unsigned, CUdevice)>("cuCtxCreate");
const auto cuCtxDestroy = bare<CUresult (*)(CUcontext)>("cuCtxDestroy");
const auto cuMemAlloc = bare<CUresult (*)(Pointer*, Size)>("cuMemAlloc");
const auto cuMemAllocPitch = bare<CUresult (*)(Pointer*, Size*, Size, Size, Size)>("cuMemAllocPitch");
const auto cuMemFree = bare<CUresult (*)(Pointer)>("cuMemFree");
const auto cuMemGetInfo = bare<CUresult (*)(Size*, Size*)>("cuMemGetInfo");
const auto cuMemGetAddressRange = bare<CUresult (*)(Pointer*, Size*, Pointer)>("cuMemGetAddressRange");
const auto cuMemcpyHtoD = bare<CUresult (*)(Pointer, const void*, Size)>("cuMemcpyHtoD");
const auto cuMemcpyDtoH = bare<CUresult (*)(void*, Pointer, Size)>("cuMemcpyDtoH");
const auto cuMemcpyDtoD = bare<CUresult (*)(Pointer, Pointer, Size)>("cuMemcpyDtoD");
const auto cuMemcpyHtoDAsync = bare<CUresult (*)(Pointer, const void*, Size, CUstream)>("cuMemcpyHtoDAsync");
const auto cuMemcpy2D = bare<CUresult (*)(const Copy2D*)>("cuMemcpy2D");
const auto cuMemsetD8 = bare<CUresult (*)(Pointer, unsigned char, Size)>("cuMemsetD8");
const auto cuMemsetD32 = bare<CUresult (*)(Pointer, unsigned, Size)>("cuMemsetD32");
const auto cuModuleGetGlobal = bare<CUresult (*)(Pointer*, Size*, CUmodule, const char*)>("cuModuleGetGlobal");
const auto cuArrayCreate = bare<CUresult (*)(CUarray*, const Array*)>("cuArrayCreate");
const auto cuArrayGetDescriptor = bare<CUresult (*)(Array*, CUarray)>("cuArrayGetDescriptor");
const auto cuMemcpyHtoA = bare<CUresult (*)(CUarray, Size, const void*, Size)>("cuMemcpyHtoA");
const auto cuMemcpyAtoH = bare<CUresult (*)(void*, CUarray, Size, Size)>("cuMemcpyAtoH");

const char* const kText =
    ".version 7.0\n.target sm_75\n.address_size 64\n.global .u32 g;\n.visible .entry k(.param .u64 out) { .reg .u64 y; "
    "ld.param.u64 y, [out]; st.global.u32 [y], 7; ret; }\n";

}  // namespace

FRESH_CASE("Bare names make a context and memory of 32-bit pointers, and use them", "[first]") {
  const CUdevice dev = conformance::device().dev;
  Pointer a = 0, b = 0, base = 0;
  Size size = 0, pitch = 0, free = 0, total = 0;
  ANSWERS(cuMemAlloc(&a, 4096), CUDA_ERROR_INVALID_CONTEXT);
  CUcontext ctx = nullptr;
  ANSWERS(cuCtxCreate(&ctx, 0, dev), CUDA_SUCCESS);
  unsigned version = 0;
  ANSWERS(cuCtxGetApiVersion(ctx, &version), CUDA_SUCCESS);
  SHOWS("version 3010", "version " << version);
  ANSWERS(cuMemAlloc(&a, 4096), CUDA_SUCCESS);
  ANSWERS(cuMemAlloc(&b, 4096), CUDA_SUCCESS);
  CHECK(a != 0);
  CHECK(b != a);
  std::vector<unsigned> host(1024, 5), back(1024);
  ANSWERS(cuMemcpyHtoD(a, host.data(), 4096), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoD(b, a, 4096), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoH(back.data(), b, 4096), CUDA_SUCCESS);
  CHECK(back == host);
  ANSWERS(cuMemsetD8(a, 1, 4096), CUDA_SUCCESS);
  ANSWERS(cuMemsetD32(a, 7, 1024), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoH(back.data(), a, 4096), CUDA_SUCCESS);
  CHECK(back == std::vector<unsigned>(1024, 7));
  ANSWERS(cuMemGetAddressRange(&base, &size, a + 100), CUDA_SUCCESS);
  CHECK(base == a);
  CHECK(size == 4096);
  ANSWERS(cuMemAllocPitch(&b, &pitch, 100, 10, 4), CUDA_SUCCESS);
  SHOWS("pitch 512", "pitch " << pitch);
  ANSWERS(cuMemGetInfo(&free, &total), CUDA_SUCCESS);
  SHOWS("total 0xffffffff", "total 0x" << std::hex << total);
  CUmodule mod = nullptr;
  Pointer g = 0;
  CUfunction k = nullptr;
  ANSWERS(cuModuleLoadData(&mod, kText), CUDA_SUCCESS);
  ANSWERS(cuModuleGetGlobal(&g, &size, mod, "g"), CUDA_SUCCESS);
  CHECK(size == 4);
  ANSWERS(cuModuleGetFunction(&k, mod, "k"), CUDA_SUCCESS);
  unsigned long long out = a;
  void* arguments[] = {&out};
  ANSWERS(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoH(back.data(), a, 4), CUDA_SUCCESS);
  CHECK(back[0] == 7);
  ANSWERS(cuMemFree(a), CUDA_SUCCESS);
  ANSWERS(cuMemFree(a), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuCtxDestroy(ctx), CUDA_SUCCESS);
  ANSWERS(cuMemAlloc(&a, 16), CUDA_ERROR_INVALID_CONTEXT);
}

FRESH_CASE("Contexts of the first version and newer ones do not live on a device together", "[first]") {
  const CUdevice dev = conformance::device().dev;
  CUcontext first = nullptr, newer = nullptr, primary = nullptr;
  Pointer a = 0;
  CUdeviceptr wide = 0;
  ANSWERS(cuCtxCreate_v4(&newer, nullptr, 0, dev), CUDA_SUCCESS);
  ANSWERS(cuMemAlloc(&a, 4096), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuCtxCreate(&first, 0, dev), CUDA_ERROR_OUT_OF_MEMORY);
  ANSWERS(cuCtxDestroy_v2(newer), CUDA_SUCCESS);
  ANSWERS(cuCtxCreate(&first, 0, dev), CUDA_SUCCESS);
  ANSWERS(cuMemAlloc(&a, 4096), CUDA_SUCCESS);
  ANSWERS(cuMemAlloc_v2(&wide, 4096), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuMemsetD8_v2(a, 1, 4096), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuMemFree_v2(a), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuMemcpy(a, a + 64, 16), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuMemsetD8Async(a, 1, 64, nullptr), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuMemAllocManaged(&wide, 64, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_CONTEXT);
  void* host = nullptr;
  ANSWERS(cuMemHostAlloc(&host, 64, 0), CUDA_SUCCESS);
  ANSWERS(cuCtxCreate_v4(&newer, nullptr, 0, dev), CUDA_ERROR_OUT_OF_MEMORY);
  ANSWERS(cuDevicePrimaryCtxRetain(&primary, dev), CUDA_ERROR_OUT_OF_MEMORY);
  ANSWERS(cuMemFree(a), CUDA_SUCCESS);
  ANSWERS(cuCtxDestroy(first), CUDA_SUCCESS);
}

FRESH_CASE("Arrays and copies in two dimensions have first versions, too", "[first]") {
  const CUdevice dev = conformance::device().dev;
  CUcontext ctx = nullptr;
  ANSWERS(cuCtxCreate(&ctx, 0, dev), CUDA_SUCCESS);
  const Array wanted{8, 4, CU_AD_FORMAT_FLOAT, 1};
  Array known{};
  CUarray array = nullptr;
  ANSWERS(cuArrayCreate(&array, &wanted), CUDA_SUCCESS);
  ANSWERS(cuArrayGetDescriptor(&known, array), CUDA_SUCCESS);
  SHOWS("8 4 32 1", known.width << " " << known.height << " " << known.format << " " << known.channels);
  float in[32], out[8] = {};
  for (int i = 0; i < 32; ++i) in[i] = float(i);
  Pointer p = 0;
  ANSWERS(cuMemAlloc(&p, 4096), CUDA_SUCCESS);
  Copy2D copy{};
  copy.src_type = CU_MEMORYTYPE_HOST, copy.src_host = in, copy.src_pitch = 32;
  copy.dst_type = CU_MEMORYTYPE_DEVICE, copy.dst_device = p, copy.dst_pitch = 64;
  copy.width = 32, copy.height = 4;
  ANSWERS(cuMemcpy2D(&copy), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoH(out, p + 64, 32), CUDA_SUCCESS);
  CHECK(out[7] == 15);
  ANSWERS(cuMemcpyHtoDAsync(p, in, 128, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoH(out, p, 32), CUDA_SUCCESS);
  CHECK(out[7] == 7);
}
