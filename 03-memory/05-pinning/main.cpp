// Pins memory that already exists, and computes after how many copies that has paid off. Then it allocates pinned
// memory with each flag, and measures whether the flag makes a difference.
#include "common/cu.hpp"
#include "common/measure.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>

#include <sys/mman.h>

constexpr std::size_t kHugePage = 2 << 20, kSmallest = 64 << 10, kLargest = 64 << 20;  // bytes

struct Free {
  void operator()(char* array) const { std::free(array); }
};
using Array = std::unique_ptr<char, Free>;

// A new operating-system page has no memory until the first write to it, so this writes to all of them. `advice` says
// whether the operating system should use pages of 4 KiB or of 2 MiB.
Array new_array(std::size_t bytes, int advice = MADV_NOHUGEPAGE) {
  Array array(static_cast<char*>(std::aligned_alloc(kHugePage, std::max(bytes, kHugePage))));
  madvise(array.get(), bytes, advice);  // some systems have no huge pages; the measurement is then of small ones
  std::memset(array.get(), 1, bytes);
  return array;
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double copy_milliseconds(CUdeviceptr device, const void* host, std::size_t bytes) {
  return 1e3 * cu::median_seconds([&] {
           CU_CHECK(cuMemcpyHtoD(device, host, bytes));
           CU_CHECK(cuCtxSynchronize());
         });
}

// The median time for pinning an array and unpinning it again. Each run takes a new array.
double pin_milliseconds(std::size_t bytes, int advice = MADV_NOHUGEPAGE) {
  return cu::median([&] {
    const Array array = new_array(bytes, advice);
    const auto start = std::chrono::steady_clock::now();
    CU_CHECK(cuMemHostRegister(array.get(), bytes, 0));
    CU_CHECK(cuMemHostUnregister(array.get()));
    return milliseconds_since(start);
  });
}

void measure_size(CUdeviceptr device, std::size_t bytes) {
  const Array array = new_array(bytes);
  const double pageable = copy_milliseconds(device, array.get(), bytes);
  CU_CHECK(cuMemHostRegister(array.get(), bytes, 0));
  const double pinned = copy_milliseconds(device, array.get(), bytes);
  CU_CHECK(cuMemHostUnregister(array.get()));
  const double pin = pin_milliseconds(bytes);

  const std::size_t kib = bytes >> 10;
  std::printf("%3zu %s | %8.3f | %8.3f | %13.3f |", kib < 1024 ? kib : kib >> 10, kib < 1024 ? "KiB" : "MiB", pageable,
              pinned, pin);
  if (pinned < pageable) {
    std::printf(" %5.1f\n", pin / (pageable - pinned));
  } else {
    std::printf(" never\n");
  }
}

// Prints one row of the table: how fast the host reads the memory, how fast it is copied to the device in the context
// that allocated it and in another one, and the address at which kernels use it.
void measure_kind(const char* kind, unsigned flags, CUdeviceptr device) {
  const cu::Pinned memory(kLargest, flags);
  std::memset(memory.address, 1, kLargest);
  const auto* words = memory.as<std::uint64_t>();
  volatile std::uint64_t sum = 0;
  const double reads = cu::median_seconds([&] { sum = std::accumulate(words, words + kLargest / 8, sum + 0); });
  const double here = copy_milliseconds(device, memory.address, kLargest);
  const cu::Context other;
  const cu::Memory others(kLargest);
  const double elsewhere = copy_milliseconds(others.address, memory.address, kLargest);
  CUdeviceptr address;
  CU_CHECK(cuMemHostGetDevicePointer(&address, memory.address, 0));
  std::printf("%-14s | %10.1f | %12.1f | %15.1f | %s\n", kind, kLargest / reads / 1e9, kLargest / here / 1e6,
              kLargest / elsewhere / 1e6,
              address == reinterpret_cast<CUdeviceptr>(memory.address) ? "the same" : "another");
}

// Prints what was tried and the result; returns whether it is the expected one.
bool returned(const char* tried, CUresult expected, CUresult result) {
  std::printf("%-38s| %s\n", tried, cu::name(result));
  return result == expected;
}

bool register_ranges() {
  constexpr CUresult kAlready = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  const Array array = new_array(kSmallest);
  char* const page = array.get();
  std::printf("\n%-38s| result\n", "call");
  bool expected = returned("register 100 bytes inside a page", CUDA_SUCCESS, cuMemHostRegister(page + 100, 100, 0));
  expected &= returned("register 100 other bytes of that page", CUDA_SUCCESS, cuMemHostRegister(page + 300, 100, 0));
  expected &= returned("register the whole page", kAlready, cuMemHostRegister(page, 4096, 0));
  expected &= returned("unregister the first range", CUDA_SUCCESS, cuMemHostUnregister(page + 100));
  expected &= returned("unregister the second range", CUDA_SUCCESS, cuMemHostUnregister(page + 300));
  return expected;
}

int main() try {
  cu::Primary context;
  cu::print_device_and_link(context.device);
  cu::Memory device(kLargest);

  std::printf("\nms      | pageable | pinned   | pin and unpin | pays off after\n");
  std::printf("size    | copy     | copy     | once          | copies\n");
  for (std::size_t bytes = kSmallest; bytes <= kLargest; bytes *= 4) measure_size(device.address, bytes);
  std::printf("with pages of 2 MiB: %.3f ms to pin and unpin 64 MiB\n", pin_milliseconds(kLargest, MADV_HUGEPAGE));

  std::printf("\nGB/s           | the host   | copy in this | copy in another | address\n");
  std::printf("flag           | reads      | context      | context         | for kernels\n");
  measure_kind("none", 0, device.address);
  measure_kind("portable", CU_MEMHOSTALLOC_PORTABLE, device.address);
  measure_kind("mapped", CU_MEMHOSTALLOC_DEVICEMAP, device.address);
  measure_kind("write-combined", CU_MEMHOSTALLOC_WRITECOMBINED, device.address);
  return register_ranges() ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
