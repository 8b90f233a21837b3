// Pins memory that exists already, and works out after how many copies that has paid for itself.
#include "common/cu.hpp"
#include "common/measure.hpp"

#include <cstdlib>
#include <cstring>

constexpr std::size_t kSmallest = 1 << 20, kLargest = 64 << 20;  // bytes

double milliseconds(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

double copy_milliseconds(CUdeviceptr device, void* host, std::size_t bytes) {
  return 1e3 * cu::median_seconds([&] {
           CU_CHECK(cuMemcpyHtoD(device, host, bytes));
           CU_CHECK(cuCtxSynchronize());
         });
}

// One row: how long it takes to pin that much, and to copy it before and after.
void measure(CUdeviceptr device, std::size_t bytes) {
  using Clock = std::chrono::steady_clock;
  void* host = std::aligned_alloc(4096, bytes);
  std::memset(host, 1, bytes);  // until it is written to, memory has no pages that could be pinned
  const double pageable = copy_milliseconds(device, host, bytes);

  const auto start = Clock::now();
  CU_CHECK(cuMemHostRegister(host, bytes, 0));
  const auto registered = Clock::now();
  const double pinned = copy_milliseconds(device, host, bytes);
  const auto done = Clock::now();
  CU_CHECK(cuMemHostUnregister(host));
  const double price = milliseconds(start, registered) + milliseconds(done, Clock::now());

  std::printf("%3zu MiB | %8.3f | %8.3f | %17.3f |", bytes >> 20, pageable, pinned, price);
  if (pinned < pageable) {
    std::printf(" %5.1f\n", price / (pageable - pinned));
  } else {
    std::printf(" never\n");
  }
  std::free(host);
}

// Prints what was tried and what the driver answered; returns 1 if that is not what was expected.
int answered(const char* tried, CUresult expected, CUresult result) {
  std::printf("%-36s| %s\n", tried, cu::name(result));
  return result != expected;
}

int main() try {
  cu::Context context;
  cu::print_device_and_link(context.device);
  cu::Memory device(kLargest);

  std::printf("\nms:     | pageable | pinned   | pin and unpin     | paid for after\n");
  std::printf("size    | copy     | copy     | once              | so many copies\n");
  for (std::size_t bytes = kSmallest; bytes <= kLargest; bytes *= 4) measure(device.address, bytes);

  constexpr CUresult kAlready = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, kNot = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  constexpr std::size_t kPage = 4096;
  char* array = static_cast<char*>(std::aligned_alloc(kPage, 4 * kPage));
  std::memset(array, 1, 4 * kPage);
  int surprises = 0;
  std::printf("\n%-36s| the driver's answer\n", "what is tried");
  surprises += answered("register 100 bytes inside a page", CUDA_SUCCESS, cuMemHostRegister(array + 100, 100, 0));
  surprises += answered("register 100 others in the same page", CUDA_SUCCESS, cuMemHostRegister(array + 300, 100, 0));
  surprises += answered("register the page around them", kAlready, cuMemHostRegister(array, kPage, 0));
  surprises += answered("unregister the first", CUDA_SUCCESS, cuMemHostUnregister(array + 100));
  surprises += answered("unregister the second", CUDA_SUCCESS, cuMemHostUnregister(array + 300));
  surprises += answered("unregister it again", kNot, cuMemHostUnregister(array + 300));
  surprises += answered("register no bytes", CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(array, 0, 0));
  std::free(array);
  return surprises == 0 ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
