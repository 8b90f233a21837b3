// Reserves addresses first and adds memory later: an array on the device that grows in place.
#include "common/cu.hpp"

#include <vector>

constexpr std::size_t kMiB = 1 << 20, kReserved = std::size_t{64} << 30;  // bytes of addresses, without memory

std::size_t free_bytes() {
  std::size_t free, total;
  CU_CHECK(cuMemGetInfo(&free, &total));
  return free;
}

// Prints a row: the step, the result of a copy to the array's last byte, and the memory allocated so far.
CUresult show(const char* after, CUdeviceptr last_byte, std::size_t free_at_start) {
  const char byte = 'x';
  const CUresult copied = cuMemcpyHtoD(last_byte, &byte, 1);
  const auto allocated = static_cast<long long>(free_at_start - free_bytes()) / static_cast<long long>(kMiB);
  std::printf("%-26s | %-24s | %3lld MiB\n", after, cu::name(copied), allocated);
  return copied;
}

int main() try {
  const cu::Primary context;
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;  // the memory does not migrate
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = context.device;
  CUmemAccessDesc access{};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  std::size_t granularity;
  CU_CHECK(cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  std::printf("Allocation granularity: %zu MiB.\n\n", granularity / kMiB);

  // The first chunk of memory, step by step.
  const std::size_t free_at_start = free_bytes();
  CUdeviceptr array;
  CUmemGenericAllocationHandle chunk;
  bool expected = true;
  std::printf("after                      | copy to the first chunk  | allocated\n");
  CU_CHECK(cuMemAddressReserve(&array, kReserved, 0, 0, 0));
  expected &= show("cuMemAddressReserve 64 GiB", array, free_at_start) == CUDA_ERROR_INVALID_VALUE;
  CU_CHECK(cuMemCreate(&chunk, granularity, &properties, 0));
  expected &= show("cuMemCreate", array, free_at_start) == CUDA_ERROR_INVALID_VALUE;
  CU_CHECK(cuMemMap(array, granularity, 0, chunk, 0));
  expected &= show("cuMemMap", array, free_at_start) == CUDA_ERROR_INVALID_VALUE;
  CU_CHECK(cuMemSetAccess(array, granularity, &access, 1));
  expected &= show("cuMemSetAccess", array, free_at_start) == CUDA_SUCCESS;
  CU_CHECK(cuMemRelease(chunk));  // the mapping keeps the memory alive
  expected &= show("cuMemRelease", array, free_at_start) == CUDA_SUCCESS;

  // The array grows: each new chunk is mapped directly after the previous one, and filled with its own number.
  constexpr int kChunks = 8;
  CU_CHECK(cuMemsetD8(array, 0, granularity));
  for (int i = 1; i < kChunks; ++i) {
    const CUdeviceptr end = array + i * granularity;
    CU_CHECK(cuMemCreate(&chunk, granularity, &properties, 0));
    CU_CHECK(cuMemMap(end, granularity, 0, chunk, 0));
    CU_CHECK(cuMemRelease(chunk));
    CU_CHECK(cuMemSetAccess(end, granularity, &access, 1));
    CU_CHECK(cuMemsetD8(end, static_cast<unsigned char>(i), granularity));
  }
  expected &= show("seven more chunks", array + kChunks * granularity - 1, free_at_start) == CUDA_SUCCESS;

  // One copy reads all chunks, from the address that the array has had since the beginning.
  std::vector<unsigned char> host(kChunks * granularity);
  CU_CHECK(cuMemcpyDtoH(host.data(), array, host.size()));
  std::printf("\nThe first byte of each chunk, after a single copy:");
  for (int i = 0; i < kChunks; ++i) {
    std::printf(" %d", host[i * granularity]);
    expected &= host[i * granularity] == i;
  }

  CU_CHECK(cuMemUnmap(array, kChunks * granularity));
  CU_CHECK(cuMemAddressFree(array, kReserved));
  expected &= free_bytes() == free_at_start;
  std::printf("\n%s\n", expected ? "The array grew without a copy, and all memory was freed." : "Something is wrong.");
  return expected ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
