// Asks the driver about addresses of every kind: which memory they are in, which context owns it, and its size.
#include "common/cu.hpp"

#include <vector>

constexpr std::size_t kBytes = 4096;

// An owner for registered memory, for this lesson only.
struct Registered {
  std::vector<char> bytes = std::vector<char>(kBytes);
  Registered() { CU_THROW(cuMemHostRegister(bytes.data(), bytes.size(), 0)); }
  ~Registered() { CU_REPORT(cuMemHostUnregister(bytes.data())); }
};

// And one for managed memory.
struct Managed {
  CUdeviceptr address = 0;
  Managed() { CU_THROW(cuMemAllocManaged(&address, kBytes, CU_MEM_ATTACH_GLOBAL)); }
  ~Managed() { CU_REPORT(cuMemFree(address)); }
};

// And one for a range of addresses, of which only the first part is mapped to memory (lesson 03-12).
struct PartlyMapped {
  std::size_t mapped = 0, reserved = 0;
  CUdeviceptr address = 0;
  explicit PartlyMapped(CUdevice device) {
    CUmemAllocationProp wish{};
    wish.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    wish.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    wish.location.id = device;
    CU_THROW(cuMemGetAllocationGranularity(&mapped, &wish, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    reserved = 4 * mapped;
    CUmemGenericAllocationHandle memory;
    CU_THROW(cuMemAddressReserve(&address, reserved, 0, 0, 0));
    CU_THROW(cuMemCreate(&memory, mapped, &wish, 0));
    CU_THROW(cuMemMap(address, mapped, 0, memory, 0));
    CU_THROW(cuMemRelease(memory));  // the mapping keeps it
    const CUmemAccessDesc access{wish.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CU_THROW(cuMemSetAccess(address, mapped, &access, 1));
  }
  ~PartlyMapped() {
    CU_REPORT(cuMemUnmap(address, mapped));
    CU_REPORT(cuMemAddressFree(address, reserved));
  }
};

CUdeviceptr as_address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

// Prints what the driver knows about byte 8 of some memory. Returns the memory type, or 0 if the address is unknown.
unsigned look_up(const char* source, CUdeviceptr memory, CUcontext ours) {
  const CUdeviceptr address = memory + 8;
  unsigned type = 0;
  const CUresult result = cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
  if (result != CUDA_SUCCESS) {
    std::printf("%-24s| %s\n", source, cu::name(result));
    return 0;
  }
  unsigned managed = 0;
  CUcontext context = nullptr;
  CUdeviceptr start = 0;
  std::size_t range = 0, mapped = 0;
  CU_THROW(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
  CU_THROW(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, address));
  CU_THROW(cuPointerGetAttribute(&range, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address));
  CU_THROW(cuMemGetAddressRange(&start, &mapped, address));
  std::printf("%-24s| %-6s | %-7s | %-7s | %10zu | byte %d of %zu\n", source,
              type == CU_MEMORYTYPE_HOST ? "host" : "device", managed ? "yes" : "no", context == ours ? "ours" : "none",
              range, static_cast<int>(address - start), mapped);
  return type;
}

int main() try {
  cu::Primary context;
  std::vector<char> pageable(kBytes);
  const cu::Pinned pinned(kBytes);
  Registered registered;
  const cu::Memory device(kBytes);
  const Managed managed;
  const PartlyMapped growing(context.device);
  CUdeviceptr freed;
  CU_THROW(cuMemAlloc(&freed, 64 << 20));
  CU_THROW(cuMemFree(freed));

  std::printf("%-24s| memory | managed | context | RANGE_SIZE | cuMemGetAddressRange\n", "from");
  bool expected = look_up("std::vector", as_address(pageable.data()), context.handle) == 0;
  expected &= look_up("cuMemHostAlloc", as_address(pinned.address), context.handle) == CU_MEMORYTYPE_HOST;
  expected &= look_up("cuMemHostRegister", as_address(registered.bytes.data()), context.handle) == CU_MEMORYTYPE_HOST;
  expected &= look_up("cuMemAlloc", device.address, context.handle) == CU_MEMORYTYPE_DEVICE;
  expected &= look_up("cuMemAllocManaged", managed.address, context.handle) == CU_MEMORYTYPE_DEVICE;
  expected &= look_up("cuMemMap", growing.address, context.handle) == CU_MEMORYTYPE_DEVICE;
  expected &= look_up("reserved, not mapped", growing.address + growing.mapped, context.handle) == 0;
  expected &= look_up("cuMemAlloc, then freed", freed, context.handle) == 0;
  expected &= look_up("a null pointer", 0, context.handle) == 0;

  // One call copies between all kinds of memory, because the driver looks up both addresses.
  pageable[0] = 'p';
  CU_THROW(cuMemcpy(as_address(pinned.address), as_address(pageable.data()), kBytes));
  CU_THROW(cuMemcpy(device.address, as_address(pinned.address), kBytes));
  CU_THROW(cuMemcpy(managed.address, device.address, kBytes));
  CU_THROW(cuMemcpy(as_address(registered.bytes.data()), managed.address, kBytes));
  std::printf("\nvector -> pinned -> device -> managed -> registered: '%c' arrived\n", registered.bytes[0]);
  return expected && registered.bytes[0] == 'p' ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
