// Rejected with: "no other memory is allocated"
// It copies between two allocations, although one pointer is valid on both sides.
#include "common/cu.hpp"

void take_turns(CUfunction add_one, CUdevice device, int* numbers, int n, int rounds) {
  CUdeviceptr address = reinterpret_cast<CUdeviceptr>(numbers);
  CUmemLocation location{};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device;
  CU_THROW(cuMemPrefetchAsync(address, n * sizeof(int), location, 0, nullptr));
  cu::Memory copy(n * sizeof(int));
  for (int round = 0; round < rounds; ++round) {
    void* arguments[] = {&copy.address, &n};
    CU_THROW(cuMemcpyHtoD(copy.address, numbers, n * sizeof(int)));
    CU_THROW(cuLaunchKernel(add_one, 8, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
    CU_THROW(cuMemcpyDtoH(numbers, copy.address, n * sizeof(int)));
    for (int i = 0; i < n; ++i) numbers[i] *= 2;
  }
}
