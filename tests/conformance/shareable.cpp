// Memory that a file descriptor leads to.
#include "tests/conformance/scenario.hpp"

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
