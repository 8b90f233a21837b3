// Takes and gives back memory in stream order, and shows what the pool behind it keeps, and what that saves.
#include "common/cu.hpp"
#include "common/measure.hpp"

#include <algorithm>

constexpr std::size_t kMiB = 1 << 20, kSize = 32 * kMiB;

// In MiB: what of the pool is in use, or what it holds altogether.
unsigned long long attribute(CUmemoryPool pool, CUmemPool_attribute which) {
  cuuint64_t bytes;
  CU_CHECK(cuMemPoolGetAttribute(pool, which, &bytes));
  return bytes / kMiB;
}

// Prints a row; returns 1 if the pool is not as it should be.
int show(const char* after, CUmemoryPool pool, unsigned long long used, unsigned long long reserved) {
  const auto is_used = attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
  const auto is_reserved = attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
  std::printf("%-36s | %4llu MiB | %4llu MiB\n", after, is_used, is_reserved);
  return is_used != used || is_reserved != reserved;
}

int main() try {
  cu::Context context;
  cu::print_device(context.device);
  cu::Stream stream;
  CUmemoryPool pool;
  CUdeviceptr first, second, third;
  int surprises = 0;
  CU_CHECK(cuDeviceGetDefaultMemPool(&pool, context.device));

  std::printf("\nafter                                | in use   | the pool's\n");
  surprises += show("the start", pool, 0, 0);
  CU_CHECK(cuMemAllocAsync(&first, kSize, stream.handle));
  // A pool takes memory in pieces; ours is one piece, whatever its size.
  const auto piece = std::max<unsigned long long>(32, attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  surprises += show("cuMemAllocAsync", pool, 32, piece);
  CU_CHECK(cuMemFreeAsync(first, stream.handle));
  surprises += show("cuMemFreeAsync", pool, 0, piece);
  CU_CHECK(cuMemAllocAsync(&second, kSize, stream.handle));
  surprises +=
      show(first == second ? "cuMemAllocAsync: the same address" : "cuMemAllocAsync: another address", pool, 32, piece);

  // With work around both, which the stream has hardly begun when the third address is given out.
  unsigned char last = 0;
  CU_CHECK(cuMemsetD8Async(second, 1, kSize, stream.handle));
  CU_CHECK(cuMemFreeAsync(second, stream.handle));
  CU_CHECK(cuMemAllocAsync(&third, kSize, stream.handle));
  CU_CHECK(cuMemsetD8Async(third, 2, kSize, stream.handle));
  CU_CHECK(cuMemcpyDtoHAsync(&last, third + kSize - 1, 1, stream.handle));
  CU_CHECK(cuStreamSynchronize(stream.handle));
  surprises +=
      show(second == third ? "fill, free, take, fill: the same" : "fill, free, take, fill: another", pool, 32, piece);
  surprises += last != 2;
  CU_CHECK(cuMemFreeAsync(third, stream.handle));
  CU_CHECK(cuStreamSynchronize(stream.handle));
  surprises += show("cuMemFreeAsync, cuStreamSynchronize", pool, 0, 0);

  cuuint64_t keep = ~cuuint64_t{0};
  CU_CHECK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
  CU_CHECK(cuMemAllocAsync(&first, kSize, stream.handle));
  CU_CHECK(cuMemFreeAsync(first, stream.handle));
  CU_CHECK(cuStreamSynchronize(stream.handle));
  surprises += show("the same, with a release threshold", pool, 0, piece);
  CU_CHECK(cuMemPoolTrimTo(pool, 0));
  surprises += show("cuMemPoolTrimTo", pool, 0, 0);

  std::printf("\nus for taking and freeing | cuMemAlloc, cuMemFree | from the pool\n");
  for (const std::size_t bytes : {kMiB / 256, kMiB, 32 * kMiB, 256 * kMiB}) {
    constexpr int kTimes = 20;
    const double plain = cu::median_seconds([&] {
      for (int i = 0; i < kTimes; ++i) cu::Memory memory(bytes);
    });
    const double pooled = cu::median_seconds([&] {
      for (int i = 0; i < kTimes; ++i) {
        CUdeviceptr memory;
        CU_CHECK(cuMemAllocAsync(&memory, bytes, stream.handle));
        CU_CHECK(cuMemFreeAsync(memory, stream.handle));
      }
      CU_CHECK(cuStreamSynchronize(stream.handle));
    });
    std::printf("%21zu KiB | %21.2f | %8.2f\n", bytes >> 10, plain / kTimes * 1e6, pooled / kTimes * 1e6);
  }
  CU_CHECK(cuMemPoolTrimTo(pool, 0));
  return surprises == 0 ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
