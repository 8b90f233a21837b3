// Let host and device take turns with the same numbers.
#include "common/cu.hpp"

// `numbers` is managed memory. First it is prefetched to the device, all of it. Then, in each round, the kernel adds
// one to each of the n numbers, and after that the host doubles each of them. When it returns, both are done. No other
// memory is allocated, and nothing is copied. The kernel's arguments are a CUdeviceptr and an int; 8 blocks of 256
// threads will do. Throws cu::Error if the driver refuses (CU_THROW).
void take_turns(CUfunction add_one, CUdevice device, int* numbers, int n, int rounds) {
  CUdeviceptr address = reinterpret_cast<CUdeviceptr>(numbers);
  CUmemLocation location{};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device;
  CU_THROW(cuMemPrefetchAsync(address, n * sizeof(int), location, 0, nullptr));
  for (int round = 0; round < rounds; ++round) {
    void* arguments[] = {&address, &n};
    CU_THROW(cuLaunchKernel(add_one, 8, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
    CU_THROW(cuCtxSynchronize());
    for (int i = 0; i < n; ++i) numbers[i] *= 2;
  }
}
