// Allocates pinned memory of every kind, and measures it beside pageable memory: in the context that allocated it, and
// in another one.
#include "common/cu.hpp"
#include "common/measure.hpp"

#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

constexpr std::size_t kBytes = 32 << 20;

// In GB/s.
template <class Work>
double bandwidth(Work work) {
  return kBytes / cu::median_seconds(work) / 1e9;
}

double copy_bandwidth(CUdeviceptr device, const void* host) {
  return bandwidth([&] {
    CU_THROW(cuMemcpyHtoD(device, host, kBytes));
    CU_THROW(cuCtxSynchronize());
  });
}

// Whether a kernel in the current context can use the memory, and at which address.
const char* address_for_kernels(void* host) {
  CUdeviceptr address;
  const CUresult result = cuMemHostGetDevicePointer(&address, host, 0);
  if (result == CUDA_ERROR_INVALID_VALUE) return "none";
  CU_THROW(result);
  return address == reinterpret_cast<CUdeviceptr>(host) ? "the same" : "another";
}

// Prints one row of the table; returns whether the bytes that the host wrote arrived on the device.
bool measure(const char* kind, void* host) {
  auto* words = static_cast<std::uint64_t*>(host);
  const std::size_t count = kBytes / sizeof *words;
  std::uint64_t sum = 0;
  const double writes = bandwidth([&] { std::memset(host, 1, kBytes); });
  const double reads = bandwidth([&] { sum += std::accumulate(words, words + count, std::uint64_t{0}); });

  cu::Memory device(kBytes);
  const double here = copy_bandwidth(device.address, host);
  double elsewhere = 0;
  const char* address = nullptr;
  {
    cu::Context other;
    cu::Memory device_of_other(kBytes);
    elsewhere = copy_bandwidth(device_of_other.address, host);
    address = address_for_kernels(host);
  }
  std::printf("%-15s | %6.1f | %6.1f | %7.1f | %7.1f | %s\n", kind, writes, reads, here, elsewhere, address);

  std::vector<std::uint64_t> arrived(count);
  CU_THROW(cuMemcpyDtoH(arrived.data(), device.address, kBytes));
  return sum != 0 && std::memcmp(arrived.data(), host, kBytes) == 0;
}

int main() try {
  cu::Primary context;
  cu::print_device_and_link(context.device);

  std::printf("\n                | GB/s:  |        | copy to the device    |\n");
  std::printf("                | host   | host   | this    | another | address\n");
  std::printf("kind            | writes | reads  | context | context | for kernels\n");
  std::vector<char> pageable(kBytes);
  bool arrived = measure("pageable", pageable.data());
  const cu::Pinned plain(kBytes), portable(kBytes, CU_MEMHOSTALLOC_PORTABLE), mapped(kBytes, CU_MEMHOSTALLOC_DEVICEMAP),
      write_combined(kBytes, CU_MEMHOSTALLOC_WRITECOMBINED);
  arrived &= measure("no flag", plain.address);
  arrived &= measure("portable", portable.address);
  arrived &= measure("mapped", mapped.address);
  arrived &= measure("write-combined", write_combined.address);

  std::printf("\n%s\n", arrived ? "All bytes arrived." : "Bytes were lost.");
  return arrived ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
