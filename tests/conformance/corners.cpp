// Corners that programs rarely reach: log buffers of every size, files without code, sizes that wrap, captures of calls
// that cannot be captured, and accesses just past the end of a kernel's memory. Recorded from driver 580.159.04 on an
// H200.
#include "tests/conformance/scenario.hpp"

#include <sys/mman.h>

#include <array>
#include <cstring>
#include <fstream>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // cuLaunchGridAsync

namespace {

constexpr const char* kBad =
    ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { mov.u32 %r1, 0; ret; }\n";
constexpr const char* kGood = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n";

CUresult load(const char* text, CUjit_option log, char* buffer, CUjit_option sizes, std::size_t& size) {
  std::array<CUjit_option, 2> options{log, sizes};
  std::array<void*, 2> values{buffer, reinterpret_cast<void*>(size)};
  CUmodule module = nullptr;
  const CUresult result = cuModuleLoadDataEx(&module, text, 2, options.data(), values.data());
  size = reinterpret_cast<std::size_t>(values[1]);
  return result;
}

CUfunction kernel(const std::string& text, const char* name = "k") {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CU_CHECK(cuModuleLoadData(&module, text.c_str()));
  CU_CHECK(cuModuleGetFunction(&function, module, name));
  return function;
}

// What becomes of a capture in which `call` was made.
template <class Call>
std::string captured(CUstream stream, Call call) {
  CU_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  const CUresult answer = call();
  CUgraph graph = nullptr;
  const CUresult end = cuStreamEndCapture(stream, &graph);
  std::size_t nodes = 0;
  if (graph != nullptr) CU_CHECK(cuGraphGetNodes(graph, nullptr, &nodes));
  const char *a = nullptr, *b = nullptr;
  cuGetErrorName(answer, &a);
  cuGetErrorName(end, &b);
  return std::string(a) + ", " + b + ", " + std::to_string(nodes) + " nodes";
}

// A kernel that writes 4 bytes at `offset` of its shared memory.
std::string shared_text(const char* declaration) {
  return std::string(".version 7.0\n.target sm_75\n.address_size 64\n") + declaration +
         "\n.visible .entry k(.param .u32 offset)\n{\n  .reg .b32 %r<4>;\n  mov.u32 %r1, sh;\n"
         "  ld.param.u32 %r2, [offset];\n  add.u32 %r3, %r1, %r2;\n  st.volatile.shared.u32 [%r3], %r2;\n  ret;\n}\n";
}

}  // namespace

FRESH_CASE("A log of a compilation is cut to its buffer", "[modules]") {
  conformance::context();
  char buffer[1024];
  for (const std::size_t room : {0, 1, 2, 3, 5, 20}) {
    std::memset(buffer, 'x', sizeof buffer);
    std::size_t size = room;
    ANSWERS(load(kBad, CU_JIT_ERROR_LOG_BUFFER, buffer, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, size),
            CUDA_ERROR_INVALID_PTX);
    CHECK(size == (room < 2 ? 0 : room));
    CHECK(std::strlen(buffer) == (room < 2 ? 0 : room - 1));
    CHECK(buffer[room < 2 ? 1 : room] == 'x');
  }
  std::size_t size = sizeof buffer;
  ANSWERS(load(kBad, CU_JIT_ERROR_LOG_BUFFER, buffer, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, size),
          CUDA_ERROR_INVALID_PTX);
  CHECK(size == std::strlen(buffer));
  size = sizeof buffer;
  ANSWERS(load(kGood, CU_JIT_ERROR_LOG_BUFFER, buffer, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, size), CUDA_SUCCESS);
  CHECK(size == 0);
  size = 100;
  ANSWERS(load(kGood, CU_JIT_ERROR_LOG_BUFFER, nullptr, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, size),
          CUDA_ERROR_INVALID_VALUE);
  size = 0;
  ANSWERS(load(kGood, CU_JIT_INFO_LOG_BUFFER, nullptr, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, size),
          CUDA_ERROR_INVALID_VALUE);
  CUjit_option only = CU_JIT_ERROR_LOG_BUFFER;
  void* value = buffer;
  CUmodule module = nullptr;
  ANSWERS(cuModuleLoadDataEx(&module, kGood, 1, &only, &value), CUDA_ERROR_INVALID_VALUE);
  only = CU_JIT_MAX_REGISTERS;
  value = nullptr;
  ANSWERS(cuModuleLoadDataEx(&module, kGood, 1, &only, &value), CUDA_ERROR_INVALID_VALUE);
}

FRESH_CASE("A library's code is looked at when something of it is wanted", "[modules]") {
  conformance::context();
  CUlibrary library = nullptr;
  CUkernel found = nullptr;
  CUmodule module = nullptr;
  ANSWERS(cuLibraryLoadData(&library, kBad, nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_SUCCESS);
  ANSWERS(cuLibraryGetKernel(&found, library, "k"), CUDA_ERROR_INVALID_PTX);
  ANSWERS(cuLibraryGetModule(&module, library), CUDA_ERROR_INVALID_PTX);
  ANSWERS(cuLibraryLoadFromFile(&library, "", nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuLibraryLoadFromFile(&library, "/", nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_ERROR_OUT_OF_MEMORY);
  ANSWERS(cuModuleLoad(&module, ""), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuModuleLoad(&module, "."), CUDA_ERROR_OUT_OF_MEMORY);
  ANSWERS(cuModuleLoad(&module, "/nonexistent"), CUDA_ERROR_FILE_NOT_FOUND);
  ANSWERS(cuModuleLoad(&module, "/dev/null"), CUDA_ERROR_INVALID_IMAGE);
}

FRESH_CASE("Sizes of fills wrap at 2^64; the device fails only if rows do", "[memory]") {
  conformance::context();
  CUdeviceptr p = 0;
  ANSWERS(cuMemAlloc(&p, 4096), CUDA_SUCCESS);
  ANSWERS(cuMemsetD8(p, 0, 4097), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemsetD8(p, 0, std::size_t{1} << 63), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemsetD32(p, 0, std::size_t{1} << 40), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemsetD2D8(p, 0, 0, 64, 2), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemsetD2D8(p, 0, 0, 64, 1), CUDA_SUCCESS);
  ANSWERS(cuMemsetD32(p, 0, (std::size_t{1} << 62) + 1), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  ANSWERS(cuMemsetD8(p, 1, 4096), CUDA_SUCCESS);
  ANSWERS(cuMemsetD32(p, 0, (std::size_t{1} << 62) + 100), CUDA_SUCCESS);
  ANSWERS(cuMemsetD32(p, 0, (std::size_t{1} << 62) + 1025), CUDA_ERROR_INVALID_VALUE);
  std::vector<unsigned char> bytes(4096);
  ANSWERS(cuMemcpyDtoH(bytes.data(), p, 4096), CUDA_SUCCESS);
  CHECK(std::count(bytes.begin(), bytes.end(), 0) == 400);
  ANSWERS(cuMemsetD2D8(p, std::size_t{1} << 63, 0, 16, 3), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

FRESH_CASE("Kernels and fills do not write to what was registered to be read", "[memory]") {
  const conformance::Context F = conformance::context();
  void* const page = mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int supported = 0;
  CU_CHECK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED, F.dev));
  if (supported == 0) return;
  ANSWERS(cuMemHostRegister(page, 65536, CU_MEMHOSTREGISTER_READ_ONLY), CUDA_SUCCESS);
  CUdeviceptr p = 0;
  ANSWERS(cuMemHostGetDevicePointer(&p, page, 0), CUDA_SUCCESS);
  ANSWERS(cuMemsetD8(p, 1, 64), CUDA_ERROR_INVALID_VALUE);
  const CUfunction k = kernel(
      ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n  .reg .b64 %rd<2>;\n"
      "  ld.param.u64 %rd1, [p];\n  st.global.u32 [%rd1], 7;\n  ret;\n}\n");
  void* parameters[] = {&p};
  ANSWERS(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

FRESH_CASE("Calls that a capture cannot hold, and some that it can", "[streams]") {
  conformance::context();
  CUstream s = nullptr;
  CUdeviceptr d = 0, managed = 0;
  CUevent never = nullptr;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuMemAlloc(&d, 4096));
  CU_CHECK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  CU_CHECK(cuEventCreate(&never, 0));
  const CUfunction k = kernel(kGood);
  static char host[64];
  CHECK(captured(s, [&] { return cuStreamAttachMemAsync(s, managed, 0, CU_MEM_ATTACH_GLOBAL); }) ==
        "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 0 nodes");
  CHECK(captured(s, [&] { return cuLaunchKernel(k, 0, 1, 1, 1, 1, 1, 0, s, nullptr, nullptr); }) ==
        "CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 0 nodes");
  CHECK(captured(s, [&] { return cuLaunchCooperativeKernel(k, 100000, 1, 1, 1024, 1, 1, 0, s, nullptr); }) ==
        "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 0 nodes");
  CHECK(captured(s, [&] { return cuLaunchGridAsync(k, 1, 1, s); }) ==
        "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 0 nodes");
  CHECK(captured(s, [&] { return cuStreamWriteValue32(s, d, 1, 0); }) == "CUDA_SUCCESS, CUDA_SUCCESS, 1 nodes");
  CHECK(captured(s, [&] { return cuStreamWaitValue32(s, d, 1, CU_STREAM_WAIT_VALUE_GEQ); }) ==
        "CUDA_SUCCESS, CUDA_SUCCESS, 1 nodes");
  CHECK(captured(s, [&] { return cuStreamBatchMemOp(s, 0, nullptr, 0); }) == "CUDA_SUCCESS, CUDA_SUCCESS, 1 nodes");
  CHECK(captured(s, [&] { return cuStreamWaitEvent(s, never, 0); }) == "CUDA_SUCCESS, CUDA_SUCCESS, 0 nodes");
  CHECK(captured(s, [&] { return cuStreamWaitEvent(s, nullptr, 0); }) ==
        "CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 0 nodes");
  CHECK(captured(s, [&] { return cuMemcpyHtoDAsync(d, host, 0, s); }) == "CUDA_SUCCESS, CUDA_SUCCESS, 0 nodes");
  CHECK(captured(s, [&] { return cuMemsetD8Async(d, 0, 1 << 30, s); }) == "CUDA_SUCCESS, CUDA_SUCCESS, 1 nodes");

  // What was captured is done by each launch.
  CU_CHECK(cuMemsetD32(d, 0, 16));
  CU_CHECK(cuCtxSynchronize());  // the stream does not wait for the fill, which is in the default stream
  CU_CHECK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  CU_CHECK(cuStreamWriteValue32(s, d, 41, 0));
  CU_CHECK(cuStreamWaitValue32(s, d, 41, CU_STREAM_WAIT_VALUE_EQ));
  CU_CHECK(cuStreamWriteValue64(s, d + 8, 42, 0));
  CUgraph graph = nullptr;
  CUgraphExec ready = nullptr;
  CU_CHECK(cuStreamEndCapture(s, &graph));
  ANSWERS(cuGraphInstantiate(&ready, graph, 0), CUDA_SUCCESS);
  ANSWERS(cuGraphLaunch(ready, s), CUDA_SUCCESS);
  ANSWERS(cuStreamSynchronize(s), CUDA_SUCCESS);
  unsigned words[4] = {};
  CU_CHECK(cuMemcpyDtoH(words, d, sizeof words));
  CHECK(words[0] == 41);
  CHECK(words[2] == 42);
}

FRESH_CASE("The shared memory that so many blocks leave for one", "[launches]") {
  conformance::context();
  const CUfunction k = kernel(kGood);
  std::size_t room = 0;
  ANSWERS(cuOccupancyAvailableDynamicSMemPerBlock(&room, k, 1, 128), CUDA_SUCCESS);
  CHECK(room == 49152);
  ANSWERS(cuOccupancyAvailableDynamicSMemPerBlock(&room, k, 8, 128), CUDA_SUCCESS);
  CHECK(room == 29184);
  ANSWERS(cuOccupancyAvailableDynamicSMemPerBlock(&room, k, 32, 32), CUDA_SUCCESS);
  CHECK(room == 7296);
  ANSWERS(cuOccupancyAvailableDynamicSMemPerBlock(&room, k, 8, 1024), CUDA_ERROR_INVALID_VALUE);
  int blocks = 0;
  ANSWERS(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k, 32, std::size_t{1} << 40), CUDA_SUCCESS);
  CHECK(blocks == 32);
}

FRESH_CASE("Parts of an allocation are not mapped", "[virtual]") {
  const auto F = conformance::context();
  CUmemAllocationProp place{};
  place.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  place.location = {CU_MEM_LOCATION_TYPE_DEVICE, {F.dev}};
  std::size_t unit = 0;
  CU_CHECK(cuMemGetAllocationGranularity(&unit, &place, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUdeviceptr p = 0;
  CUmemGenericAllocationHandle h = 0;
  CU_CHECK(cuMemAddressReserve(&p, 4 * unit, 0, 0, 0));
  CU_CHECK(cuMemCreate(&h, 2 * unit, &place, 0));
  ANSWERS(cuMemMap(p, 2 * unit, 0, h, 0), CUDA_SUCCESS);
  ANSWERS(cuMemMap(p + unit, unit, 0, h, 0), CUDA_ERROR_NOT_SUPPORTED);
  ANSWERS(cuMemMap(p, 3 * unit, 0, h, 0), CUDA_ERROR_NOT_SUPPORTED);
  ANSWERS(cuMemMap(p, 2 * unit, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemUnmap(p, 2 * unit), CUDA_SUCCESS);
  CUdeviceptr big = 0;
  ANSWERS(cuMemAddressReserve(&big, std::size_t{1} << 47, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
}

FRESH_CASE("Memory is mapped across reservations that follow each other", "[virtual]", {"CUDASIM_BOUNDS", "hardware"}) {
  const auto F = conformance::context();
  CUmemAllocationProp place{};
  place.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  place.location = {CU_MEM_LOCATION_TYPE_DEVICE, {F.dev}};
  const std::size_t unit = 2 << 20;
  CUdeviceptr at[6] = {}, low = 0;
  for (CUdeviceptr& one : at) CU_CHECK(cuMemAddressReserve(&one, unit, 0, 0, 0));
  for (int i = 1; i < 6; ++i) low = at[i] == at[i - 1] + unit ? at[i - 1] : low;
  REQUIRE(low != 0);
  CUmemGenericAllocationHandle h = 0;
  CU_CHECK(cuMemCreate(&h, 2 * unit, &place, 0));
  ANSWERS(cuMemMap(low, 2 * unit, 0, h, 0), CUDA_SUCCESS);
  const CUmemAccessDesc access{place.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  ANSWERS(cuMemSetAccess(low, 2 * unit, &access, 1), CUDA_SUCCESS);
  ANSWERS(cuMemsetD8(low, 1, 2 * unit), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  ANSWERS(cuMemUnmap(low, 2 * unit), CUDA_SUCCESS);
  ANSWERS(cuMemAddressFree(low, 2 * unit), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemAddressFree(low, unit), CUDA_SUCCESS);
}

FRESH_CASE("Shared memory reaches to the next 128 bytes", "[bounds]", {"CUDASIM_BOUNDS", "hardware"},
           {"CUDASIM_QUIET", "1"}) {
  conformance::context();
  const CUfunction k = kernel(shared_text(".shared .align 4 .b8 sh[4];"));
  unsigned offset = 124;
  void* parameters[] = {&offset};
  ANSWERS(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  offset = 128;
  ANSWERS(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

FRESH_CASE("Shared memory that a launch gives reaches to the next 128 bytes", "[bounds]",
           {"CUDASIM_BOUNDS", "hardware"}, {"CUDASIM_QUIET", "1"}) {
  conformance::context();
  const CUfunction k = kernel(shared_text(".extern .shared .align 4 .b8 sh[];"));
  unsigned offset = 124;
  void* parameters[] = {&offset};
  ANSWERS(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 100, nullptr, parameters, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  ANSWERS(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

FRESH_CASE("Textures of nothing, and a line between borders", "[arrays]") {
  conformance::context();
  CUdeviceptr p = 0, out = 0;
  CU_CHECK(cuMemAlloc(&p, 4096));
  CU_CHECK(cuMemAlloc(&out, 4096));
  CUDA_TEXTURE_DESC how{};
  CUDA_RESOURCE_DESC what{};
  CUtexObject texture = 0;
  CUsurfObject surface = 0;
  what.resType = CU_RESOURCE_TYPE_LINEAR;
  what.res.linear = {p, CU_AD_FORMAT_FLOAT, 1, 0};
  ANSWERS(cuTexObjectCreate(&texture, &what, &how, nullptr), CUDA_SUCCESS);
  CUDA_RESOURCE_VIEW_DESC view{};
  ANSWERS(cuTexObjectCreate(&texture, &what, &how, &view), CUDA_SUCCESS);
  what.resType = CU_RESOURCE_TYPE_PITCH2D;
  what.res.pitch2D = {p, CU_AD_FORMAT_FLOAT, 1, 8, 8, 0};
  ANSWERS(cuTexObjectCreate(&texture, &what, &how, nullptr), CUDA_SUCCESS);
  what.resType = CU_RESOURCE_TYPE_ARRAY;
  what.res.array.hArray = nullptr;
  ANSWERS(cuTexObjectCreate(&texture, &what, &how, nullptr), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuTexObjectDestroy(12345), CUDA_SUCCESS);
  ANSWERS(cuSurfObjectDestroy(12345), CUDA_SUCCESS);
  const CUDA_ARRAY_DESCRIPTOR line{4, 0, CU_AD_FORMAT_FLOAT, 1};
  const float texels[] = {10, 20, 40, 80};
  CU_CHECK(cuArrayCreate(&what.res.array.hArray, &line));
  CU_CHECK(cuMemcpyHtoA(what.res.array.hArray, 0, texels, sizeof texels));
  ANSWERS(cuSurfObjectCreate(&surface, &what), CUDA_SUCCESS);
  how.flags = 8;
  ANSWERS(cuTexObjectCreate(&texture, &what, &how, nullptr), CUDA_SUCCESS);
  how.flags = 0;
  for (CUaddress_mode& mode : how.addressMode) mode = CU_TR_ADDRESS_MODE_BORDER;
  for (float& channel : how.borderColor) channel = 5;
  how.filterMode = CU_TR_FILTER_MODE_LINEAR;
  ANSWERS(cuTexObjectCreate(&texture, &what, &how, nullptr), CUDA_SUCCESS);
  const CUfunction k = kernel(
      ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 t)\n{\n"
      "  .reg .b64 %rd<4>;\n  .reg .f32 %f<6>;\n  .reg .b32 %r<2>;\n  ld.param.u64 %rd1, [out];\n"
      "  ld.param.u64 %rd2, [t];\n  mov.u32 %r1, %tid.x;\n  cvt.rn.f32.u32 %f5, %r1;\n  mul.f32 %f5, %f5, 0f3f000000;\n"
      "  tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd2, {%f5}];\n  mul.wide.u32 %rd3, %r1, 4;\n"
      "  add.u64 %rd1, %rd1, %rd3;\n  st.global.f32 [%rd1], %f1;\n  ret;\n}\n");
  void* parameters[] = {&out, &texture};
  CU_CHECK(cuLaunchKernel(k, 1, 1, 1, 10, 1, 1, 0, nullptr, parameters, nullptr));
  float found[10] = {};
  CU_CHECK(cuMemcpyDtoH(found, out, sizeof found));
  const float expected[] = {6.25f, 7.5f, 10, 12.5f, 17.5f, 22.5f, 32.5f, 42.5f, 23.75f, 5};
  for (int i = 0; i < 10; ++i) CHECK(found[i] == expected[i]);
}

FRESH_CASE("An extern shared array with a size has it", "[modules]") {
  conformance::context();
  const CUfunction k = kernel(shared_text(".extern .shared .align 4 .b8 sh[512];"));
  int bytes = 0;
  ANSWERS(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, k), CUDA_SUCCESS);
  CHECK(bytes == 512);
  unsigned offset = 508;
  void* parameters[] = {&offset};
  ANSWERS(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
}

FRESH_CASE("A device's allocation reaches to the end of its page", "[bounds]", {"CUDASIM_BOUNDS", "hardware"},
           {"CUDASIM_QUIET", "1"}) {
  conformance::context();
  CUdeviceptr p = 0;
  CU_CHECK(cuMemAlloc(&p, 4096));
  const CUfunction k = kernel(
      ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n  .reg .b64 %rd<2>;\n"
      "  ld.param.u64 %rd1, [p];\n  st.global.u32 [%rd1+4096], 7;\n  ret;\n}\n");
  void* parameters[] = {&p};
  ANSWERS(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
}
