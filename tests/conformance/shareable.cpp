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
