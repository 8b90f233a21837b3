// Virtual memory whose bytes lie on the host: mapped once, there for both sides.
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
    CHECK(properties.location.type == place.type);
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
#endif
