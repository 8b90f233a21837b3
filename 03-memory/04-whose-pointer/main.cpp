// Asks the driver about addresses of every kind: where they lie, whose they are, and what surrounds them.
#include "common/cu.hpp"

#include <vector>

// Prints what the driver says of byte 8 behind `address`; returns the memory type it names, 0 if it knows nothing.
unsigned ask(const char* what, CUdeviceptr address, CUcontext ours) {
  unsigned type = 0, managed = 0;
  CUcontext context = nullptr;
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  const CUresult known = cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address + 8);
  if (known != CUDA_SUCCESS) {
    std::printf("%-24s| %s\n", what, cu::name(known));
    return 0;
  }
  CU_CHECK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address + 8));
  CU_CHECK(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, address + 8));
  CU_CHECK(cuPointerGetAttribute(&begin, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address + 8));
  CU_CHECK(cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address + 8));
  std::printf("%-24s| %-6s | %-7s | %-7s | byte %d of %zu\n", what, type == CU_MEMORYTYPE_HOST ? "host" : "device",
              managed ? "yes" : "no", context == ours ? "ours" : "other", static_cast<int>(address + 8 - begin), bytes);
  return type;
}

CUdeviceptr number(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

int main() try {
  cu::Context context;
  std::vector<char> pageable(4096), registered(4096);
  void* pinned;
  CUdeviceptr device, managed, freed;
  CU_CHECK(cuMemHostAlloc(&pinned, 4096, 0));
  CU_CHECK(cuMemHostRegister(registered.data(), registered.size(), 0));
  CU_CHECK(cuMemAlloc(&device, 4096));
  CU_CHECK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  CU_CHECK(cuMemAlloc(&freed, 64 << 20));
  CU_CHECK(cuMemFree(freed));

  std::printf("%-24s| memory | managed | context | the address is\n", "address from");
  bool right = ask("std::vector", number(pageable.data()), context.handle) == 0;
  right &= ask("cuMemHostAlloc", number(pinned), context.handle) == CU_MEMORYTYPE_HOST;
  right &= ask("cuMemHostRegister", number(registered.data()), context.handle) == CU_MEMORYTYPE_HOST;
  right &= ask("cuMemAlloc", device, context.handle) == CU_MEMORYTYPE_DEVICE;
  right &= ask("cuMemAllocManaged", managed, context.handle) == CU_MEMORYTYPE_DEVICE;
  right &= ask("cuMemAlloc, then freed", freed, context.handle) == 0;
  right &= ask("a null pointer", 0, context.handle) == 0;

  // One copy call for all of them: it asks the driver, as we did, where each end lies.
  pageable[0] = 'p';
  CU_CHECK(cuMemcpy(number(pinned), number(pageable.data()), 4096));
  CU_CHECK(cuMemcpy(device, number(pinned), 4096));
  CU_CHECK(cuMemcpy(managed, device, 4096));
  CU_CHECK(cuMemcpy(number(registered.data()), managed, 4096));
  std::printf("\nvector -> pinned -> device -> managed -> registered: '%c' arrived\n", registered[0]);
  right &= registered[0] == 'p';

  CU_CHECK(cuMemFree(managed));
  CU_CHECK(cuMemFree(device));
  CU_CHECK(cuMemHostUnregister(registered.data()));
  CU_CHECK(cuMemFreeHost(pinned));
  return right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
