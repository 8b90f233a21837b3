// Rejected with: "each call is checked: a driver error is thrown"
// If waiting fails, the results are undefined, and the caller never learns of it.
#include "common/cu.hpp"

void take_turns(CUfunction add_one, CUdevice device, int* numbers, int n, int rounds) {
  CUdeviceptr address = reinterpret_cast<CUdeviceptr>(numbers);
  CUmemLocation location{};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device;
  CU_THROW(cuMemPrefetchAsync(address, n * sizeof(int), location, 0, nullptr));
  for (int round = 0; round < rounds; ++round) {
    void* arguments[] = {&address, &n};
    CU_THROW(cuLaunchKernel(add_one, 8, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
    cuCtxSynchronize();
    for (int i = 0; i < n; ++i) numbers[i] *= 2;
  }
}
