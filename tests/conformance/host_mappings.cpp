// Virtual memory whose bytes are on the host: mapped once, and usable from both sides.
#include "tests/conformance/scenario.hpp"

#if CUDA_VERSION >= 12020
namespace {

constexpr std::size_t kSize = 2 << 20;

CUmemLocation at(CUmemLocationType type, int id = 0) {
  CUmemLocation location{};
  location.type = type;
  location.id = id;
  return location;
}

struct Mapped {
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr address = 0;
};

Mapped mapped(const CUmemLocation& location) {
  Mapped made;
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = location;
  ANSWERS(cuMemCreate(&made.handle, kSize, &properties, 0), CUDA_SUCCESS);
  CU_CHECK(cuMemAddressReserve(&made.address, 2 * kSize, 0, 0, 0));
  ANSWERS(cuMemMap(made.address, kSize, 0, made.handle, 0), CUDA_SUCCESS);
  return made;
}

CUmemAccessDesc access(const CUmemLocation& location, CUmemAccess_flags flags) {
  CUmemAccessDesc wanted{};
  wanted.location = location;
  wanted.flags = flags;
  return wanted;
}

constexpr auto kBoth = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;

}  // namespace

FRESH_CASE("Memory on the host is mapped for the host and a device at one address", "[virtual]") {
  conformance::context();
  for (const CUmemLocation& place : {at(CU_MEM_LOCATION_TYPE_HOST), at(CU_MEM_LOCATION_TYPE_HOST_NUMA)}) {
    const Mapped memory = mapped(place);
    const CUmemAccessDesc both[] = {access(at(CU_MEM_LOCATION_TYPE_DEVICE), kBoth), access(place, kBoth)};
    ANSWERS(cuMemSetAccess(memory.address, kSize, both, 2), CUDA_SUCCESS);
    unsigned long long flags = 0;
    ANSWERS(cuMemGetAccess(&flags, &place, memory.address), CUDA_SUCCESS);
    CHECK(flags == kBoth);

    volatile unsigned* const words = reinterpret_cast<volatile unsigned*>(memory.address);
    words[5] = 77;
    unsigned word = 0;
    ANSWERS(cuMemcpyDtoH(&word, memory.address + 20, 4), CUDA_SUCCESS);
    CHECK(word == 77);
    ANSWERS(cuMemsetD32(memory.address, 9, 4), CUDA_SUCCESS);
    ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
    CHECK(words[3] == 9);
    CUmemAllocationProp properties{};
    ANSWERS(cuMemGetAllocationPropertiesFromHandle(&properties, memory.handle), CUDA_SUCCESS);
    CHECK(properties.location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA);
    ANSWERS(cuMemUnmap(memory.address, kSize), CUDA_SUCCESS);
    ANSWERS(cuMemRelease(memory.handle), CUDA_SUCCESS);
    ANSWERS(cuMemAddressFree(memory.address, 2 * kSize), CUDA_SUCCESS);
  }
}

FRESH_CASE("A kernel reads what the host has written to a mapping, and the host what it writes", "[virtual]") {
  const conformance::Module module = conformance::module();
  const Mapped memory = mapped(at(CU_MEM_LOCATION_TYPE_HOST));
  const CUmemAccessDesc both[] = {access(at(CU_MEM_LOCATION_TYPE_DEVICE), kBoth),
                                  access(at(CU_MEM_LOCATION_TYPE_HOST), kBoth)};
  CU_CHECK(cuMemSetAccess(memory.address, kSize, both, 2));
  float* const values = reinterpret_cast<float*>(memory.address);
  for (int i = 0; i < 300; ++i) values[i] = static_cast<float>(i);
  CUdeviceptr coefficients = 0;
  CU_CHECK(cuModuleGetGlobal(&coefficients, nullptr, module.mod, "coef"));
  const float one = 1;
  CU_CHECK(cuMemcpyHtoD(coefficients, &one, sizeof one));
  CUdeviceptr a = memory.address, b = a + 400, c = a + 800;
  int n = 100;
  void* arguments[] = {&a, &b, &c, &n};
  ANSWERS(cuLaunchKernel(module("vadd"), 1, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  CHECK(values[299] == 99 + 199);
}

FRESH_CASE("What the host may not touch of a mapping ends the process that does", "[virtual]") {
  conformance::context();
  const Mapped memory = mapped(at(CU_MEM_LOCATION_TYPE_HOST));
  const CUmemAccessDesc device = access(at(CU_MEM_LOCATION_TYPE_DEVICE), kBoth);
  CU_CHECK(cuMemSetAccess(memory.address, kSize, &device, 1));
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    *reinterpret_cast<volatile int*>(memory.address) = 1;
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
}

FRESH_CASE("What only the host may touch can be copied, not filled or looked up", "[virtual]") {
  conformance::context();
  const Mapped memory = mapped(at(CU_MEM_LOCATION_TYPE_HOST));
  const CUmemAccessDesc host = access(at(CU_MEM_LOCATION_TYPE_HOST), kBoth);
  CUdeviceptr base = 0, device = 0;
  unsigned kind = 0, word = 7;
  void* pointer = nullptr;
  CU_CHECK(cuMemAlloc(&device, 64));
  ANSWERS(cuPointerGetAttribute(&pointer, CU_POINTER_ATTRIBUTE_HOST_POINTER, memory.address), CUDA_ERROR_INVALID_VALUE);
  CU_CHECK(cuMemSetAccess(memory.address, kSize, &host, 1));
  ANSWERS(cuPointerGetAttribute(&pointer, CU_POINTER_ATTRIBUTE_HOST_POINTER, memory.address), CUDA_SUCCESS);
  CHECK(pointer == reinterpret_cast<void*>(memory.address));
  ANSWERS(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory.address), CUDA_SUCCESS);
  CHECK(kind == CU_MEMORYTYPE_HOST);
  ANSWERS(cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, memory.address), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemcpyHtoD(memory.address + 4, &word, 4), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoD(device, memory.address + 4, 4), CUDA_SUCCESS);
  word = 0;
  ANSWERS(cuMemcpyDtoH(&word, device, 4), CUDA_SUCCESS);
  CHECK(word == 7);
  ANSWERS(cuMemsetD32(memory.address, 9, 4), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemGetAddressRange(&base, nullptr, memory.address), CUDA_ERROR_NOT_FOUND);
  ANSWERS(cuMemHostGetDevicePointer(&base, pointer, 0), CUDA_ERROR_INVALID_VALUE);
  const CUmemAccessDesc all = access(at(CU_MEM_LOCATION_TYPE_DEVICE), kBoth);
  CU_CHECK(cuMemSetAccess(memory.address, kSize, &all, 1));
  ANSWERS(cuMemsetD32(memory.address, 9, 4), CUDA_SUCCESS);
  ANSWERS(cuMemGetAddressRange(&base, nullptr, memory.address), CUDA_SUCCESS);
  ANSWERS(cuMemHostGetDevicePointer(&base, pointer, 0), CUDA_SUCCESS);
  CHECK(base == memory.address);
}

FRESH_CASE("A device's memory is not mapped for the host, and only a node's memory is shared", "[virtual]") {
  conformance::context();
  const Mapped memory = mapped(at(CU_MEM_LOCATION_TYPE_DEVICE));
  const CUmemAccessDesc host = access(at(CU_MEM_LOCATION_TYPE_HOST), kBoth);
  ANSWERS(cuMemSetAccess(memory.address, kSize, &host, 1), CUDA_ERROR_NOT_SUPPORTED);
  unsigned long long flags = 7;
  const CUmemLocation nowhere = at(CU_MEM_LOCATION_TYPE_INVALID);
  ANSWERS(cuMemGetAccess(&flags, &host.location, memory.address), CUDA_SUCCESS);
  CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE);
  ANSWERS(cuMemGetAccess(&flags, &nowhere, memory.address), CUDA_ERROR_INVALID_DEVICE);

  CUmemAllocationProp properties{};
  CUmemGenericAllocationHandle handle = 0;
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location = at(CU_MEM_LOCATION_TYPE_HOST);
  ANSWERS(cuMemCreate(&handle, kSize, &properties, 0), CUDA_ERROR_INVALID_VALUE);
  properties.location = at(CU_MEM_LOCATION_TYPE_HOST_NUMA);
  ANSWERS(cuMemCreate(&handle, kSize, &properties, 0), CUDA_SUCCESS);
  int fd = -1;
  ANSWERS(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), CUDA_SUCCESS);
  properties.location = at(CU_MEM_LOCATION_TYPE_HOST_NUMA, -1);
  ANSWERS(cuMemCreate(&handle, kSize, &properties, 0), CUDA_ERROR_INVALID_VALUE);
  properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = at(CU_MEM_LOCATION_TYPE_DEVICE);
  properties.allocFlags.reserved[0] = 1;
  ANSWERS(cuMemCreate(&handle, kSize, &properties, 0), CUDA_ERROR_INVALID_VALUE);
  properties.allocFlags.reserved[0] = 0;
  properties.allocFlags.compressionType = 7;
  ANSWERS(cuMemCreate(&handle, kSize, &properties, 0), CUDA_ERROR_INVALID_VALUE);
}
#endif
