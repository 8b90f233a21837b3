// Creates resources while a context is current, destroys the context, and shows which resources still exist.
#include "common/cu.hpp"

#include <unistd.h>

#include <string>
#include <vector>

constexpr std::size_t kBytes = 256 << 20;

// A module without a kernel, as PTX. A compiler generates this for `__device__ unsigned number = 42;`.
const char* const kVariable = R"(
  .version 7.0
  .target sm_75
  .address_size 64
  .visible .global .u32 number = 42;
)";

struct Contexts {
  CUcontext a, b;
};

// Returns the owner of an address and the number that is stored there, or the error if no allocation has this address.
std::string describe(CUdeviceptr address, const Contexts& contexts) {
  CUcontext owner;
  const CUresult result = cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address);
  if (result != CUDA_SUCCESS) return cu::name(result);
  unsigned number = 0;
  CU_CHECK(cuMemcpyDtoH(&number, address, sizeof number));
  const char* const name = owner == contexts.a ? "A" : owner == contexts.b ? "B" : "no context";
  return std::string(name) + ", value " + std::to_string(number);
}

// Whether the CPU can read an address. The operating system reads it for us: if there is no memory, write() fails,
// whereas an access of our own would end the program.
bool cpu_can_read(const void* address) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const bool readable = write(ends[1], address, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return readable;
}

std::size_t free_on_device() {
  std::size_t free, total;
  CU_CHECK(cuMemGetInfo(&free, &total));
  return free;
}

struct Resource {
  const char* name;
  CUdeviceptr address;
  std::string before;
};

int main() {
  CU_CHECK(cuInit(0));
  CUdevice device;
  CU_CHECK(cuDeviceGet(&device, 0));
  Contexts contexts;
  CU_CHECK(cuCtxCreate(&contexts.b, nullptr, 0, device));
  const std::size_t free_before = free_on_device();

  CU_CHECK(cuCtxCreate(&contexts.a, nullptr, 0, device));
  CUdeviceptr memory, variable, from_pool, in_library;
  CU_CHECK(cuMemAlloc(&memory, kBytes));
  CU_CHECK(cuMemsetD32(memory, 7, 1));
  void* pinned;
  CU_CHECK(cuMemHostAlloc(&pinned, 4096, 0));
  *static_cast<unsigned*>(pinned) = 7;
  CUmodule module;
  CU_CHECK(cuModuleLoadData(&module, kVariable));
  CU_CHECK(cuModuleGetGlobal(&variable, nullptr, module, "number"));
  CU_CHECK(cuMemAllocAsync(&from_pool, 4, nullptr));  // from the device's memory pool
  CU_CHECK(cuMemsetD32(from_pool, 7, 1));
  CUlibrary library;
  CU_CHECK(cuLibraryLoadData(&library, kVariable, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CU_CHECK(cuLibraryGetGlobal(&in_library, nullptr, library, "number"));
  CU_CHECK(cuCtxSynchronize());

  std::vector<Resource> resources = {{"cuMemAlloc", memory, ""},
                                     {"cuMemHostAlloc", reinterpret_cast<CUdeviceptr>(pinned), ""},
                                     {"a module's variable", variable, ""},
                                     {"cuMemAllocAsync", from_pool, ""},
                                     {"a library's variable", in_library, ""}};
  for (Resource& resource : resources) resource.before = describe(resource.address, contexts);
  const bool taken = free_before >= free_on_device() + kBytes;
  const bool readable_before = cpu_can_read(pinned);

  CU_CHECK(cuCtxDestroy(contexts.a));  // B, which is below A on the stack, is current again

  std::printf("                      | while A exists       | after cuCtxDestroy(A)\n");
  for (const Resource& resource : resources) {
    std::printf("%-22s| %-21s| %s\n", resource.name, resource.before.c_str(),
                describe(resource.address, contexts).c_str());
  }
  std::printf("%-22s| %-21s| %s\n", "device memory in use", taken ? "256 MiB more" : "no more",
              free_on_device() + kBytes > free_before ? "as before A" : "still more");

  const bool readable = cpu_can_read(pinned);
  std::printf("%-22s| %-21s| %s\n", "pinned, read by CPU", readable_before ? "possible" : "impossible",
              readable ? "possible" : "impossible");

  CU_CHECK(cuLibraryGetGlobal(&in_library, nullptr, library, "number"));
  std::printf("\nthe library's variable in B: %s\n", describe(in_library, contexts).c_str());
  const bool right = describe(from_pool, contexts) == "no context, value 7" &&
                     describe(in_library, contexts) == "B, value 42" && readable_before && !readable;

  CU_CHECK(cuLibraryUnload(library));
  CU_CHECK(cuMemFreeAsync(from_pool, nullptr));
  CU_CHECK(cuCtxDestroy(contexts.b));
  return right ? 0 : 1;
}
