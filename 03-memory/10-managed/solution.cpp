// Let host and device work on the same numbers alternately.
#include "common/cu.hpp"

// `numbers` is managed memory. The function first prefetches all n numbers to the device. Then, in each round, the
// kernel adds one to each number, and after that the host doubles each number. When the function returns, all rounds
// are complete. Allocate no other memory, and copy nothing. The kernel's parameters are a CUdeviceptr and an int; 8
// blocks of 256 threads are enough. Throws cu::Error if a driver call fails (CU_THROW).
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
