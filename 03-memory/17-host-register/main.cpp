// Pins memory that already exists, and computes after how many copies that has paid off.
#include "common/cu.hpp"
#include "common/measure.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>

constexpr std::size_t kPage = 4096, kSmallest = 64 << 10, kLargest = 64 << 20;  // bytes

struct Free {
  void operator()(char* array) const { std::free(array); }
};
using Array = std::unique_ptr<char, Free>;

// A new operating-system page has no memory until the first write to it, so this writes to all of them.
Array new_array(std::size_t bytes) {
  Array array(static_cast<char*>(std::aligned_alloc(kPage, bytes)));
  std::memset(array.get(), 1, bytes);
  return array;
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double copy_milliseconds(CUdeviceptr device, const char* host, std::size_t bytes) {
  return 1e3 * cu::median_seconds([&] {
           CU_CHECK(cuMemcpyHtoD(device, host, bytes));
           CU_CHECK(cuCtxSynchronize());
         });
}

// The median time for pinning an array and unpinning it again. Each run takes a new array.
double pin_milliseconds(std::size_t bytes) {
  return cu::median([&] {
    const Array array = new_array(bytes);
    const auto start = std::chrono::steady_clock::now();
    CU_CHECK(cuMemHostRegister(array.get(), bytes, 0));
    CU_CHECK(cuMemHostUnregister(array.get()));
    return milliseconds_since(start);
  });
}

void measure(CUdeviceptr device, std::size_t bytes) {
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

// Prints what was tried and the result; returns whether it is the expected one.
bool returned(const char* tried, CUresult expected, CUresult result) {
  std::printf("%-38s| %s\n", tried, cu::name(result));
  return result == expected;
}

int main() try {
  cu::Primary context;
  cu::print_device_and_link(context.device);
  cu::Memory device(kLargest);

  std::printf("\nms      | pageable | pinned   | pin and unpin | pays off after\n");
  std::printf("size    | copy     | copy     | once          | copies\n");
  for (std::size_t bytes = kSmallest; bytes <= kLargest; bytes *= 4) measure(device.address, bytes);

  constexpr CUresult kAlready = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, kNot = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  const Array array = new_array(4 * kPage);
  char* const page = array.get();
  std::printf("\n%-38s| result\n", "call");
  bool expected = returned("register 100 bytes inside a page", CUDA_SUCCESS, cuMemHostRegister(page + 100, 100, 0));
  expected &= returned("register 100 other bytes of that page", CUDA_SUCCESS, cuMemHostRegister(page + 300, 100, 0));
  expected &= returned("register the whole page", kAlready, cuMemHostRegister(page, kPage, 0));
  expected &= returned("unregister the first range", CUDA_SUCCESS, cuMemHostUnregister(page + 100));
  expected &= returned("unregister the second range", CUDA_SUCCESS, cuMemHostUnregister(page + 300));
  expected &= returned("unregister it again", kNot, cuMemHostUnregister(page + 300));
  expected &= returned("register 0 bytes", CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(page, 0, 0));
  return expected ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
