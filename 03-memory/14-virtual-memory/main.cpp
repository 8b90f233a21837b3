// Takes addresses first and memory later: an array on the device that grows in place.
#include "common/cu.hpp"

#include <vector>

constexpr std::size_t kMiB = 1 << 20, kReserved = std::size_t{64} << 30;  // addresses; they cost nothing

std::size_t free_bytes() {
  std::size_t free, total;
  CU_CHECK(cuMemGetInfo(&free, &total));
  return free;
}

// A row: what was done, what a copy to the last byte that should be there answers, how much memory is taken.
CUresult show(const char* after, CUdeviceptr last_byte, std::size_t free_at_start) {
  const char byte = 'x';
  const CUresult copied = cuMemcpyHtoD(last_byte, &byte, 1);
  const auto taken = static_cast<long long>(free_at_start - free_bytes()) / static_cast<long long>(kMiB);
  std::printf("%-26s | %-24s | %3lld MiB\n", after, cu::name(copied), taken);
  return copied;
}

int main() try {
  cu::Context context;
  CUmemAllocationProp kind{};
  kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;  // it stays where it is
  kind.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  kind.location.id = context.device;
  CUmemAccessDesc access{};
  access.location = kind.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  std::size_t granule;
  CU_CHECK(cuMemGetAllocationGranularity(&granule, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  std::printf("Memory comes in pieces of %zu MiB.\n\n", granule / kMiB);

  // Step by step: addresses, memory, the memory at the addresses, the right to use it.
  const std::size_t free_at_start = free_bytes();
  CUdeviceptr array;
  CUmemGenericAllocationHandle piece;
  bool right = true;
  std::printf("after                      | copy to the first piece  | taken\n");
  CU_CHECK(cuMemAddressReserve(&array, kReserved, 0, 0, 0));
  right &= show("cuMemAddressReserve 64 GiB", array, free_at_start) == CUDA_ERROR_INVALID_VALUE;
  CU_CHECK(cuMemCreate(&piece, granule, &kind, 0));
  right &= show("cuMemCreate", array, free_at_start) == CUDA_ERROR_INVALID_VALUE;
  CU_CHECK(cuMemMap(array, granule, 0, piece, 0));
  right &= show("cuMemMap", array, free_at_start) == CUDA_ERROR_INVALID_VALUE;
  CU_CHECK(cuMemSetAccess(array, granule, &access, 1));
  right &= show("cuMemSetAccess", array, free_at_start) == CUDA_SUCCESS;
  CU_CHECK(cuMemRelease(piece));  // the mapping keeps the memory
  right &= show("cuMemRelease", array, free_at_start) == CUDA_SUCCESS;

  // It grows: another piece behind the last one, filled with its own number.
  constexpr int kPieces = 8;
  CU_CHECK(cuMemsetD8(array, 0, granule));
  for (int i = 1; i < kPieces; ++i) {
    const CUdeviceptr end = array + i * granule;
    CU_CHECK(cuMemCreate(&piece, granule, &kind, 0));
    CU_CHECK(cuMemMap(end, granule, 0, piece, 0));
    CU_CHECK(cuMemSetAccess(end, granule, &access, 1));
    CU_CHECK(cuMemRelease(piece));
    CU_CHECK(cuMemsetD8(end, static_cast<unsigned char>(i), granule));
  }
  right &= show("seven pieces more", array + kPieces * granule - 1, free_at_start) == CUDA_SUCCESS;

  // One array: a single copy takes all of it, and what was there before is still there.
  std::vector<unsigned char> host(kPieces * granule);
  CU_CHECK(cuMemcpyDtoH(host.data(), array, host.size()));
  for (int i = 0; i < kPieces; ++i) right &= host[i * granule] == i;
  std::printf("\nThe pieces, in one copy from the old address:");
  for (int i = 0; i < kPieces; ++i) std::printf(" %d", host[i * granule]);

  CU_CHECK(cuMemUnmap(array, kPieces * granule));
  CU_CHECK(cuMemAddressFree(array, kReserved));
  right &= free_bytes() == free_at_start;
  std::printf("\n%s\n",
              right ? "Nothing was copied to grow, and everything was given back." : "That was not expected.");
  return right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
