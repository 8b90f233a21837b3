// Memory that a file descriptor leads to.
#include "tests/conformance/scenario.hpp"

#include <sys/mman.h>

namespace {

CUmemAllocationProp on_device(CUmemAllocationHandleType handles) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.requestedHandleTypes = handles;
  return properties;
}

CUdeviceptr mapped(CUmemGenericAllocationHandle handle, std::size_t size) {
  CUdeviceptr address = 0;
  CU_CHECK(cuMemAddressReserve(&address, size, 0, 0, 0));
  CU_CHECK(cuMemMap(address, size, 0, handle, 0));
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CU_CHECK(cuMemSetAccess(address, size, &access, 1));
  return address;
}

}  // namespace

FRESH_CASE("Memory that was made for it leaves by a file descriptor and comes back", "[vmm]") {
  conformance::context();
  constexpr std::size_t size = 2 << 20;
  CUmemGenericAllocationHandle plain = 0, made = 0, again = 0;
  int fd = -1;
  const CUmemAllocationProp none = on_device(CU_MEM_HANDLE_TYPE_NONE);
  const CUmemAllocationProp descriptor = on_device(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  CU_CHECK(cuMemCreate(&plain, size, &none, 0));
  ANSWERS(cuMemExportToShareableHandle(&fd, plain, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
          CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemCreate(&made, size, &descriptor, 0), CUDA_SUCCESS);
  ANSWERS(cuMemExportToShareableHandle(&fd, made, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), CUDA_SUCCESS);
  REQUIRE(fd > 2);
  ANSWERS(cuMemImportFromShareableHandle(&again, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)),
                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
          CUDA_SUCCESS);
  const CUdeviceptr here = mapped(made, size), there = mapped(again, size);
  unsigned word = 0;
  ANSWERS(cuMemsetD32(here, 77, size / 4), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoH(&word, there + size - 4, 4), CUDA_SUCCESS);
  CHECK(word == 77);
  close(fd);
  CU_CHECK(cuMemUnmap(here, size));
  CU_CHECK(cuMemRelease(made));
  ANSWERS(cuMemcpyDtoH(&word, there, 4), CUDA_SUCCESS);  // the other one keeps it
  CHECK(word == 77);
}

FRESH_CASE("A descriptor of memory can be imported as external memory, whose parts are buffers", "[vmm]") {
  conformance::context();
  constexpr std::size_t size = 2 << 20;
  CUmemGenericAllocationHandle made = 0;
  const CUmemAllocationProp descriptor = on_device(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  CU_CHECK(cuMemCreate(&made, size, &descriptor, 0));
  const CUdeviceptr here = mapped(made, size);
  CU_CHECK(cuMemsetD32(here, 77, size / 4));
  CU_CHECK(cuCtxSynchronize());
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC from{};
  from.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
  from.size = size;
  CU_CHECK(cuMemExportToShareableHandle(&from.handle.fd, made, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CUexternalMemory memory = nullptr;
  ANSWERS(cuImportExternalMemory(&memory, &from), CUDA_SUCCESS);
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC part{};
  part.offset = 4096;
  part.size = size - 4096;
  CUdeviceptr p = 0;
  ANSWERS(cuExternalMemoryGetMappedBuffer(&p, memory, &part), CUDA_SUCCESS);
  unsigned word = 0;
  ANSWERS(cuMemcpyDtoH(&word, p + part.size - 4, 4), CUDA_SUCCESS);
  CHECK(word == 77);
  ANSWERS(cuMemsetD32(p, 5, 1), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoH(&word, here + 4096, 4), CUDA_SUCCESS);
  CHECK(word == 5);
  part.size = size;
  CUdeviceptr too_long = 0;
  ANSWERS(cuExternalMemoryGetMappedBuffer(&too_long, memory, &part), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemFree(p), CUDA_SUCCESS);
  ANSWERS(cuDestroyExternalMemory(memory), CUDA_SUCCESS);
}

FRESH_CASE("External memory can be the levels of a mipmapped array, which is destroyed like any other",
           "[vmm][arrays]") {
  conformance::context();
  constexpr std::size_t size = 2 << 20;
  CUmemGenericAllocationHandle made = 0;
  const CUmemAllocationProp descriptor = on_device(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  CU_CHECK(cuMemCreate(&made, size, &descriptor, 0));
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC from{};
  from.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
  from.size = size;
  CU_CHECK(cuMemExportToShareableHandle(&from.handle.fd, made, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CUexternalMemory memory = nullptr;
  CU_CHECK(cuImportExternalMemory(&memory, &from));
  CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC picture{};
  picture.arrayDesc.Width = picture.arrayDesc.Height = 64;
  picture.arrayDesc.Format = CU_AD_FORMAT_FLOAT;
  picture.arrayDesc.NumChannels = 1;
  picture.numLevels = 7;
  CUmipmappedArray levels = nullptr, other = nullptr;
  ANSWERS(cuExternalMemoryGetMappedMipmappedArray(&levels, memory, &picture), CUDA_SUCCESS);
  CUarray level = nullptr;
  ANSWERS(cuMipmappedArrayGetLevel(&level, levels, 1), CUDA_SUCCESS);
  std::vector<float> there(32 * 32, 3.f), back(32 * 32);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = there.data();
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = level;
  copy.WidthInBytes = copy.srcPitch = copy.dstPitch = 32 * sizeof(float);
  copy.Height = 32;
  ANSWERS(cuMemcpy2D(&copy), CUDA_SUCCESS);
  std::swap(copy.srcMemoryType, copy.dstMemoryType);
  copy.srcArray = level;
  copy.dstHost = back.data();
  ANSWERS(cuMemcpy2D(&copy), CUDA_SUCCESS);
  CHECK(back == there);
  DIFFERS("the level goes with the others", cuArrayDestroy(level), CUDA_SUCCESS, CUDA_ERROR_INVALID_HANDLE);

  picture.numLevels = 8;
  ANSWERS(cuExternalMemoryGetMappedMipmappedArray(&other, memory, &picture), CUDA_ERROR_INVALID_VALUE);
  if (conformance::on_simulator()) {  // a GPU's driver damages its own memory there, and the process dies later
    picture.numLevels = 0;
    ANSWERS(cuExternalMemoryGetMappedMipmappedArray(&other, memory, &picture), CUDA_ERROR_INVALID_VALUE);
  }
  picture.numLevels = 1;
  ANSWERS(cuExternalMemoryGetMappedMipmappedArray(nullptr, memory, &picture), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuExternalMemoryGetMappedMipmappedArray(&other, nullptr, &picture), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuExternalMemoryGetMappedMipmappedArray(&other, memory, nullptr), CUDA_ERROR_INVALID_VALUE);
  picture.arrayDesc.Width = picture.arrayDesc.Height = 4096;
  ANSWERS(cuExternalMemoryGetMappedMipmappedArray(&other, memory, &picture), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuDestroyExternalMemory(memory), CUDA_SUCCESS);
  ANSWERS(cuMipmappedArrayDestroy(levels), CUDA_SUCCESS);
  CU_CHECK(cuMemRelease(made));
}

FRESH_CASE("What is no memory of a driver's, and no semaphore, cannot be imported", "[vmm]") {
  conformance::context();
  const int file = memfd_create("nothing", 0);
  REQUIRE(ftruncate(file, 4 << 20) == 0);
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC from{};
  from.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
  from.size = 4 << 20;
  CUexternalMemory memory = nullptr;
  for (const int descriptor : {-1, 0, file}) {
    from.handle.fd = descriptor;
    ANSWERS(cuImportExternalMemory(&memory, &from), CUDA_ERROR_UNKNOWN);
  }
  from.type = static_cast<CUexternalMemoryHandleType>(99);
  ANSWERS(cuImportExternalMemory(&memory, &from), CUDA_ERROR_INVALID_VALUE);
  from.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32;
  CHECK(cuImportExternalMemory(&memory, &from) != CUDA_SUCCESS);
  ANSWERS(cuImportExternalMemory(nullptr, &from), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuImportExternalMemory(&memory, nullptr), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuDestroyExternalMemory(nullptr), CUDA_ERROR_INVALID_VALUE);

  CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC signal{};
  CUexternalSemaphore semaphore = nullptr;
  signal.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
  signal.handle.fd = file;
  ANSWERS(cuImportExternalSemaphore(&semaphore, &signal), CUDA_ERROR_UNKNOWN);
  signal.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32;
  ANSWERS(cuImportExternalSemaphore(&semaphore, &signal), CUDA_ERROR_NOT_SUPPORTED);
  signal.type = static_cast<CUexternalSemaphoreHandleType>(99);
  ANSWERS(cuImportExternalSemaphore(&semaphore, &signal), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuImportExternalSemaphore(nullptr, &signal), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuDestroyExternalSemaphore(nullptr), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuSignalExternalSemaphoresAsync(nullptr, nullptr, 0, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuWaitExternalSemaphoresAsync(nullptr, nullptr, 1, 0), CUDA_ERROR_INVALID_VALUE);
  close(file);
}

FRESH_CASE("Virtual memory is made for handles that the machine has, and mapped as a whole", "[vmm]") {
  conformance::context();
  constexpr std::size_t size = 2 << 20;
  CUmemGenericAllocationHandle made = 0, other = 0;
  const CUmemAllocationProp plain = on_device(CU_MEM_HANDLE_TYPE_NONE);
  const CUmemAllocationProp win32 = on_device(CU_MEM_HANDLE_TYPE_WIN32);
  CU_CHECK(cuMemCreate(&made, size, &plain, 0));
  ANSWERS(cuMemCreate(&other, size, &win32, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemImportFromShareableHandle(&other, reinterpret_cast<void*>(std::intptr_t{999}),
                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
          CUDA_ERROR_UNKNOWN);
  ANSWERS(cuMemImportFromShareableHandle(&other, nullptr, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
          CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr address = 0;
  CU_CHECK(cuMemAddressReserve(&address, 2 * size, 0, 0, 0));
  ANSWERS(cuMemMap(address, size / 2, 0, made, 0), CUDA_ERROR_NOT_SUPPORTED);
  ANSWERS(cuMemMap(address, size, 4096, made, 0), CUDA_ERROR_NOT_SUPPORTED);
  ANSWERS(cuMemMap(address, 2 * size, 0, made, 0), CUDA_ERROR_NOT_SUPPORTED);
  ANSWERS(cuMemMap(address + 1, size, 0, made, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemMap(address, size, 0, made, 1), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemMap(address, size, 0, made, 0), CUDA_SUCCESS);
}

FRESH_CASE("A pointer into a mapping has the handle types of its memory", "[vmm]") {
  conformance::context();
  constexpr std::size_t size = 2 << 20;
  const auto types_of = [](CUdeviceptr pointer) {
    unsigned long long types = ~0ull;
    ANSWERS(cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, pointer), CUDA_SUCCESS);
    return types;
  };
  CUmemGenericAllocationHandle plain = 0, shareable = 0;
  const CUmemAllocationProp none = on_device(CU_MEM_HANDLE_TYPE_NONE);
  const CUmemAllocationProp descriptor = on_device(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  CU_CHECK(cuMemCreate(&plain, size, &none, 0));
  CU_CHECK(cuMemCreate(&shareable, size, &descriptor, 0));
  CHECK(types_of(mapped(plain, size) + 100) == CU_MEM_HANDLE_TYPE_NONE);
  CHECK(types_of(mapped(shareable, size) + 100) == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  CUdeviceptr linear = 0;
  CU_CHECK(cuMemAlloc(&linear, 4096));
  CHECK(types_of(linear) == CU_MEM_HANDLE_TYPE_NONE);
}

#if CUDA_VERSION >= 11070
FRESH_CASE("Memory of a device has a descriptor for the machine's other devices", "[memory]") {
  const auto made = conformance::context();
  int supported = 0, file = -1;
  CU_CHECK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, made.dev));
  if (!supported) SKIP_TEST("this device has no dma-buf");
  constexpr std::size_t kBytes = 4 << 20;
  constexpr auto kKind = CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD;
  CUdeviceptr memory = 0;
  void* host = nullptr;
  CU_CHECK(cuMemAlloc(&memory, kBytes));
  CU_CHECK(cuMemsetD8(memory, 7, kBytes));
  CU_CHECK(cuMemAllocHost(&host, 4096));
  ANSWERS(cuMemGetHandleForAddressRange(&file, memory, kBytes, kKind, 0), CUDA_SUCCESS);
  CHECK(lseek(file, 0, SEEK_END) >= static_cast<off_t>(kBytes));
  if (conformance::on_simulator()) {  // every process that has it can look
    const void* seen = mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, file, 0);
    REQUIRE(seen != MAP_FAILED);
    CHECK(static_cast<const unsigned char*>(seen)[kBytes - 1] == 7);
    CU_CHECK(cuMemsetD8(memory + kBytes - 1, 8, 1));
    CU_CHECK(cuCtxSynchronize());
    CHECK(static_cast<const unsigned char*>(seen)[kBytes - 1] == 8);
  }
  close(file);
  unsigned char value = 0;
  ANSWERS(cuMemcpyDtoH(&value, memory, 1), CUDA_SUCCESS);
  CHECK(value == 7);
  ANSWERS(cuMemGetHandleForAddressRange(nullptr, memory, kBytes, kKind, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemGetHandleForAddressRange(&file, memory + 8, 4096, kKind, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemGetHandleForAddressRange(&file, memory, 100, kKind, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemGetHandleForAddressRange(&file, memory, 2 * kBytes, kKind, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemGetHandleForAddressRange(&file, memory, 4096, kKind, 1), CUDA_ERROR_NOT_SUPPORTED);
  ANSWERS(cuMemGetHandleForAddressRange(&file, memory, 4096, kKind, 2), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemGetHandleForAddressRange(&file, reinterpret_cast<CUdeviceptr>(host), 4096, kKind, 0),
          CUDA_ERROR_INVALID_VALUE);
  DIFFERS("a descriptor begins where its memory does",
          cuMemGetHandleForAddressRange(&file, memory + 4096, 4096, kKind, 0), CUDA_SUCCESS, CUDA_ERROR_NOT_SUPPORTED);
}
#endif

FRESH_CASE("What is imported is no longer to be exported, and what is no memory is not imported", "[shareable]") {
  conformance::context();
  const CUmemAllocationProp wanted = on_device(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  CUmemGenericAllocationHandle made = 0, again = 0;
  CU_CHECK(cuMemCreate(&made, 2 << 20, &wanted, 0));
  int fd = -1;
  CU_CHECK(cuMemExportToShareableHandle(&fd, made, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  const auto as_handle = [](int file) { return reinterpret_cast<void*>(static_cast<std::intptr_t>(file)); };
  const int null = open("/dev/null", O_RDONLY);
  ANSWERS(cuMemImportFromShareableHandle(&again, as_handle(null), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
          CUDA_ERROR_UNKNOWN);
  ANSWERS(cuMemImportFromShareableHandle(&again, as_handle(fd), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
          CUDA_SUCCESS);
  CUmemAllocationProp properties{};
  ANSWERS(cuMemGetAllocationPropertiesFromHandle(&properties, again), CUDA_SUCCESS);
  CHECK(properties.requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE);
}
