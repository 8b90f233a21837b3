// Takes page-locked memory of every kind, and measures what the host and the copies make of it.
#include "common/cu.hpp"
#include "common/measure.hpp"

#include <cstdint>
#include <cstring>
#include <numeric>

constexpr std::size_t kBytes = 32 << 20;

struct Kind {
  const char* name;
  unsigned flags;
};

// In GB/s.
template <class Work>
double speed(Work work) {
  return kBytes / cu::median_seconds(work) / 1e9;
}

// Whether a context that did not allocate the memory copies from it, and has an address for its kernels.
bool usable_elsewhere(void* host) {
  cu::Context other;
  cu::Memory device(kBytes);
  CUdeviceptr address;
  return cuMemcpyHtoD(device.address, host, kBytes) == CUDA_SUCCESS &&
         cuMemHostGetDevicePointer(&address, host, 0) == CUDA_SUCCESS;
}

int main() try {
  cu::Context context;
  cu::print_device_and_link(context.device);
  cu::Memory device(kBytes);
  bool right = true;

  std::printf("\n%-15s | a kernel's | in another | GB/s: the host | the host | copy to | copy from\n", "");
  std::printf("%-15s | address    | context    | writes         | reads    | device  | device\n", "kind");
  for (const Kind kind :
       {Kind{"no flag", 0}, Kind{"portable", CU_MEMHOSTALLOC_PORTABLE}, Kind{"mapped", CU_MEMHOSTALLOC_DEVICEMAP},
        Kind{"write-combined", CU_MEMHOSTALLOC_WRITECOMBINED}}) {
    void* host;
    CUdeviceptr address;
    CU_CHECK(cuMemHostAlloc(&host, kBytes, kind.flags));
    CU_CHECK(cuMemHostGetDevicePointer(&address, host, 0));
    const bool same = address == reinterpret_cast<CUdeviceptr>(host), elsewhere = usable_elsewhere(host);

    auto* words = static_cast<std::uint64_t*>(host);
    const std::size_t count = kBytes / sizeof *words;
    std::uint64_t sum = 0;
    const double writes = speed([&] { std::memset(host, 1, kBytes); });
    const double reads = speed([&] { sum += std::accumulate(words, words + count, std::uint64_t{0}); });
    const double to_device = speed([&] { CU_CHECK(cuMemcpyHtoD(device.address, host, kBytes)); });
    const double from_device = speed([&] { CU_CHECK(cuMemcpyDtoH(host, device.address, kBytes)); });
    std::printf("%-15s | %-10s | %-10s | %14.1f | %8.1f | %7.1f | %7.1f\n", kind.name, same ? "the same" : "another",
                elsewhere ? "usable" : "not usable", writes, reads, to_device, from_device);
    right &= elsewhere && sum != 0 && words[count - 1] == 0x0101010101010101;
    CU_CHECK(cuMemFreeHost(host));
  }

  std::printf("\n%s\n", right ? "All bytes arrived." : "Bytes were lost.");
  return right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
