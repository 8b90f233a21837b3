// Rejected with: "all numbers are prefetched to the device"
// The results are correct, but every page migrates on a page fault.
#include "common/cu.hpp"

void take_turns(CUfunction add_one, CUdevice device, int* numbers, int n, int rounds) {
  CUdeviceptr address = reinterpret_cast<CUdeviceptr>(numbers);
  CUmemLocation location{};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device;
  (void)location;
  for (int round = 0; round < rounds; ++round) {
    void* arguments[] = {&address, &n};
    CU_THROW(cuLaunchKernel(add_one, 8, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
    CU_THROW(cuCtxSynchronize());
    for (int i = 0; i < n; ++i) numbers[i] *= 2;
  }
}
