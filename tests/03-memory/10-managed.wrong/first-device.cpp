// Rejected with: "a device that does not exist is rejected, not replaced by another one"
// It prefetches to device 0, whatever device the caller has named.
#include "common/cu.hpp"

void take_turns(CUfunction add_one, CUdevice, int* numbers, int n, int rounds) {
  CUdeviceptr address = reinterpret_cast<CUdeviceptr>(numbers);
  CUmemLocation location{};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CU_THROW(cuMemPrefetchAsync(address, n * sizeof(int), location, 0, nullptr));
  for (int round = 0; round < rounds; ++round) {
    void* arguments[] = {&address, &n};
    CU_THROW(cuLaunchKernel(add_one, 8, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
    CU_THROW(cuCtxSynchronize());
    for (int i = 0; i < n; ++i) numbers[i] *= 2;
  }
}
