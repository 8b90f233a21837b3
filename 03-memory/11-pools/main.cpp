// Allocates and frees memory in stream order, and shows what the pool keeps, when another stream can reuse the memory,
// what the pool saves, and how it becomes fragmented.
#include "common/cu.hpp"
#include "common/measure.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

constexpr std::size_t kMiB = 1 << 20, kSize = 32 * kMiB;
constexpr cuuint64_t kKeepEverything = ~cuuint64_t{0};

cuuint64_t mebibytes(CUmemoryPool pool, CUmemPool_attribute attribute) {
  cuuint64_t bytes;
  CU_CHECK(cuMemPoolGetAttribute(pool, attribute, &bytes));
  return bytes / kMiB;
}

// Prints a row of the first table. Returns whether the pool is as expected.
bool show(const std::string& after, CUmemoryPool pool, cuuint64_t expected_used, cuuint64_t expected_reserved) {
  const cuuint64_t used = mebibytes(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
  const cuuint64_t reserved = mebibytes(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
  std::printf("%-44s | %4llu MiB | %4llu MiB\n", after.c_str(), static_cast<unsigned long long>(used),
              static_cast<unsigned long long>(reserved));
  return used == expected_used && reserved == expected_reserved;
}

// One stream and the device's default pool. Returns whether everything is as expected.
bool watch_one_stream(CUdevice device) {
  const cu::Stream stream;
  CUmemoryPool pool;
  CU_CHECK(cuDeviceGetDefaultMemPool(&pool, device));
  std::printf("\n%-44s | used     | reserved\n", "one stream, after");
  bool expected = show("(start)", pool, 0, 0);

  CUdeviceptr first;
  CU_CHECK(cuMemAllocAsync(&first, kSize, stream.handle));
  // The driver chooses how much a pool reserves at a time.
  const cuuint64_t reserved = std::max<cuuint64_t>(32, mebibytes(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  expected &= show("cuMemAllocAsync", pool, 32, reserved);
  CU_CHECK(cuMemFreeAsync(first, stream.handle));
  expected &= show("cuMemFreeAsync", pool, 0, reserved);

  // The stream has barely begun this work when the third address is returned.
  CUdeviceptr second, third;
  unsigned char last = 0;
  CU_CHECK(cuMemAllocAsync(&second, kSize, stream.handle));
  CU_CHECK(cuMemsetD8Async(second, 1, kSize, stream.handle));
  CU_CHECK(cuMemFreeAsync(second, stream.handle));
  CU_CHECK(cuMemAllocAsync(&third, kSize, stream.handle));
  CU_CHECK(cuMemsetD8Async(third, 2, kSize, stream.handle));
  CU_CHECK(cuMemcpyDtoHAsync(&last, third + kSize - 1, 1, stream.handle));
  CU_CHECK(cuStreamSynchronize(stream.handle));
  const std::string address = second == third ? "same address" : "other address";
  expected &= show("alloc, fill, free, alloc, fill: " + address, pool, 32, reserved) && last == 2;

  CU_CHECK(cuMemFreeAsync(third, stream.handle));
  CU_CHECK(cuStreamSynchronize(stream.handle));
  expected &= show("cuMemFreeAsync, cuStreamSynchronize", pool, 0, 0);

  cuuint64_t threshold = kKeepEverything;
  CU_CHECK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  CU_CHECK(cuMemAllocAsync(&first, kSize, stream.handle));
  CU_CHECK(cuMemFreeAsync(first, stream.handle));
  CU_CHECK(cuStreamSynchronize(stream.handle));
  expected &= show("the same, with a release threshold", pool, 0, reserved);
  CU_CHECK(cuMemPoolTrimTo(pool, 0));
  expected &= show("cuMemPoolTrimTo", pool, 0, 0);
  std::printf("%-44s | %4llu MiB | %4llu MiB\n", "high watermarks",
              static_cast<unsigned long long>(mebibytes(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH)),
              static_cast<unsigned long long>(mebibytes(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)));
  return expected;
}

// A pool of our own, with a maximum size (0: none). At most one policy allows reuse across streams (0: none does).
struct Pool {
  CUmemoryPool handle = nullptr;

  Pool(CUdevice device, int policy, std::size_t most) {
    CUmemPoolProps properties{};
#if CUDA_VERSION >= 12020  // older headers have no maximum size
    properties.maxSize = most;
#else
    (void)most;
#endif
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device;
    CU_THROW(cuMemPoolCreate(&handle, &properties));
    cuuint64_t threshold = kKeepEverything;
    CU_REPORT(cuMemPoolSetAttribute(handle, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    for (const int each : {CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
                           CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES}) {
      int allowed = each == policy;
      CU_REPORT(cuMemPoolSetAttribute(handle, static_cast<CUmemPool_attribute>(each), &allowed));
    }
  }
  ~Pool() { CU_REPORT(cuMemPoolDestroy(handle)); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
};

// Holds up a stream: whatever is put into the stream afterwards waits until the Hold is destroyed.
class Hold {
 public:
  explicit Hold(CUstream stream) : stream_(stream) { CU_THROW(cuLaunchHostFunc(stream, wait, this)); }
  ~Hold() {
    released_ = true;
    CU_REPORT(cuStreamSynchronize(stream_));
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  static void CUDA_CB wait(void* hold) {
    while (!static_cast<Hold*>(hold)->released_) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  CUstream stream_;
  std::atomic<bool> released_{false};
};

// Waits until a stream has reached this point, without a call that synchronizes, because pools release memory in such
// calls.
void wait_without_synchronizing(CUstream stream) {
  std::atomic<bool> reached{false};
  const auto reach = [](void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; };
  CU_THROW(cuLaunchHostFunc(stream, reach, &reached));
  while (!reached) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

// What the first stream is doing when the second one allocates, after the first one has enqueued its free.
enum class First { busy, busy_with_event, finished, busy_pool_full };

// The first stream uses memory and frees it; then the second one allocates. Returns whether it receives the same
// memory. Throws if the two streams have overwritten each other's data.
const char* allocate_in_second_stream(CUdevice device, int policy, First state) {
  const Pool pool(device, policy, state == First::busy_pool_full ? kSize : 0);
  const cu::Stream first, second;
  const cu::Event freed(CU_EVENT_DISABLE_TIMING);
  const cu::Pinned bytes(2);  // the last byte of each allocation
  std::optional<Hold> hold;
  CUdeviceptr of_first, of_second;
  CU_THROW(cuMemAllocFromPoolAsync(&of_first, kSize, pool.handle, first.handle));
  CU_THROW(cuMemsetD8Async(of_first, 1, kSize, first.handle));
  if (state != First::finished) hold.emplace(first.handle);
  CU_THROW(cuMemcpyDtoHAsync(bytes.as<char>(), of_first + kSize - 1, 1, first.handle));
  CU_THROW(cuMemFreeAsync(of_first, first.handle));

  if (state == First::finished) wait_without_synchronizing(first.handle);
  if (state == First::busy_with_event) {
    CU_THROW(cuEventRecord(freed.handle, first.handle));
    CU_THROW(cuStreamWaitEvent(second.handle, freed.handle, 0));
  }
  const CUresult allocated = cuMemAllocFromPoolAsync(&of_second, kSize, pool.handle, second.handle);
  if (allocated == CUDA_ERROR_OUT_OF_MEMORY && state == First::busy_pool_full) return "no memory";
  CU_THROW(allocated);
  CU_THROW(cuMemsetD8Async(of_second, 2, kSize, second.handle));
  CU_THROW(cuMemcpyDtoHAsync(bytes.as<char>() + 1, of_second + kSize - 1, 1, second.handle));
  CU_THROW(cuMemFreeAsync(of_second, second.handle));
  hold.reset();
  CU_THROW(cuCtxSynchronize());
  if (bytes.as<char>()[0] != 1 || bytes.as<char>()[1] != 2) throw std::runtime_error("the streams shared memory");
  return of_first == of_second ? "reused" : "new";
}

// Returns false if a stream gets memory that is still in use.
bool compare_policies(CUdevice device) {
  struct Policy {
    const char* name;
    int attribute;
  };
  std::printf("\na second stream; the first one is: | busy   | busy, event | finished | busy, pool full\n");
  bool correct = true;
  for (const auto& [name, attribute] :
       {Policy{"no policy", 0}, Policy{"FOLLOW_EVENT_DEPENDENCIES", CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES},
        Policy{"ALLOW_OPPORTUNISTIC", CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC},
        Policy{"ALLOW_INTERNAL_DEPENDENCIES", CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES}}) {
    const char* busy = allocate_in_second_stream(device, attribute, First::busy);
    const char* with_event = allocate_in_second_stream(device, attribute, First::busy_with_event);
    const char* finished = allocate_in_second_stream(device, attribute, First::finished);
    const char* full = allocate_in_second_stream(device, attribute, First::busy_pool_full);
    std::printf("%-34s | %-6s | %-11s | %-8s | %s\n", name, busy, with_event, finished, full);
    if (attribute == 0) correct = busy == std::string("new") && full != std::string("reused");
  }
  return correct;
}

void compare_costs(CUdevice device) {
  constexpr int kTimes = 20;
  const cu::Stream stream;
  CUmemoryPool pool;
  CU_CHECK(cuDeviceGetDefaultMemPool(&pool, device));
  const auto microseconds = [](auto work) { return cu::median_seconds(work) / kTimes * 1e6; };
  std::printf("\nus to allocate and free | cuMemAlloc, nothing else allocated | cuMemAlloc | pool\n");
  for (const std::size_t bytes : {kMiB / 256, kMiB, 32 * kMiB, 256 * kMiB}) {
    const auto plain = [&] {
      for (int i = 0; i < kTimes; ++i) const cu::Memory memory(bytes);
    };
    const auto pooled = [&] {
      for (int i = 0; i < kTimes; ++i) {
        CUdeviceptr memory;
        CU_CHECK(cuMemAllocAsync(&memory, bytes, stream.handle));
        CU_CHECK(cuMemFreeAsync(memory, stream.handle));
      }
      CU_CHECK(cuStreamSynchronize(stream.handle));
    };
    const double alone = microseconds(plain);
    const cu::Memory neighbor(64);
    std::printf("%19zu KiB | %34.2f | %10.2f | %4.2f\n", bytes >> 10, alone, microseconds(plain), microseconds(pooled));
  }
  CU_CHECK(cuMemPoolTrimTo(pool, 0));
}

// How long the host waits to free memory while a stream, which does not use it, is busy for 20 ms.
void compare_waits() {
  const cu::Stream stream;
  const auto milliseconds = [&](auto free) {
    const auto nap = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    CU_CHECK(cuLaunchHostFunc(stream.handle, nap, nullptr));
    const auto start = std::chrono::steady_clock::now();
    free();
    const std::chrono::duration<double, std::milli> waited = std::chrono::steady_clock::now() - start;
    CU_CHECK(cuStreamSynchronize(stream.handle));
    return waited.count();
  };
  CUdeviceptr plain, pooled;
  CU_CHECK(cuMemAlloc(&plain, kMiB));
  CU_CHECK(cuMemAllocAsync(&pooled, kMiB, stream.handle));
  const double by_free = milliseconds([&] { CU_CHECK(cuMemFree(plain)); });
  const double in_order = milliseconds([&] { CU_CHECK(cuMemFreeAsync(pooled, stream.handle)); });
  std::printf("\nms to free memory while a stream is busy: cuMemFree %.2f, cuMemFreeAsync %.2f\n", by_free, in_order);
}

// Fills a pool of at most 256 MiB with pieces of 8 MiB, frees half of them, and tries how much it can allocate then.
// Returns that size in MiB.
cuuint64_t largest_after_freeing(CUdevice device, const char* which, bool (*is_freed)(int piece)) {
  constexpr int kPieces = 32;
  const Pool pool(device, 0, kPieces * 8 * kMiB);
  const cu::Stream stream;
  CUdeviceptr pieces[kPieces], large;
  for (CUdeviceptr& piece : pieces) CU_THROW(cuMemAllocFromPoolAsync(&piece, 8 * kMiB, pool.handle, stream.handle));
  for (int i = 0; i < kPieces; ++i) {
    if (is_freed(i)) CU_THROW(cuMemFreeAsync(pieces[i], stream.handle));
  }
  CU_THROW(cuStreamSynchronize(stream.handle));
  const cuuint64_t used = mebibytes(pool.handle, CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
  cuuint64_t size = kPieces * 8;
  while (cuMemAllocFromPoolAsync(&large, size * kMiB, pool.handle, stream.handle) != CUDA_SUCCESS) size /= 2;
  std::printf("%-25s | %4llu MiB | %4llu MiB\n", which, static_cast<unsigned long long>(used),
              static_cast<unsigned long long>(size));
  CU_THROW(cuMemFreeAsync(large, stream.handle));
  for (int i = 0; i < kPieces; ++i) {
    if (!is_freed(i)) CU_THROW(cuMemFreeAsync(pieces[i], stream.handle));
  }
  CU_THROW(cuStreamSynchronize(stream.handle));
  return size;
}

bool show_fragmentation(CUdevice device) {
  std::printf("\n32 pieces of 8 MiB, freed | used     | largest new allocation\n");
  const cuuint64_t half = largest_after_freeing(device, "the first 16 pieces", [](int piece) { return piece < 16; });
  const cuuint64_t holes =
      largest_after_freeing(device, "every second piece", [](int piece) { return piece % 2 == 0; });
  return holes <= half;  // a pool may join free pieces, but only pieces that are next to each other
}

int main() try {
  const cu::Primary context;
  cu::print_device(context.device);
  bool correct = watch_one_stream(context.device);
  correct &= compare_policies(context.device);
  compare_costs(context.device);
  compare_waits();
  correct &= show_fragmentation(context.device);
  return correct ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
