// Checks the learner's cause() (exercise of 03-memory/13-leaks).
#include "03-memory/13-leaks/cause.hpp"

#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

template <>
struct Catch::StringMaker<Cause> {
  static std::string convert(Cause cause) {
    constexpr const char* kNames[] = {"nothing", "cache", "fragmentation", "leak", "kept"};
    return kNames[static_cast<int>(cause)];
  }
};

namespace {

constexpr std::size_t kMiB = 1 << 20, kSize = 32 * kMiB;  // a pool may reserve memory in units of this size
bool is_fragmented = false;  // trimming a pool has no effect, as if every unit of it contained something

// A pool of its own, and what the steps of a case leave behind.
struct Steps : cu::Primary {
  CUmemoryPool pool = nullptr;
  std::vector<CUdeviceptr> left, left_in_pool;
  int runs = 0;

  Steps() {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device;
    CU_CHECK(cuMemPoolCreate(&pool, &properties));
    use_pool();  // the driver may allocate something of its own the first time
    CU_CHECK(cuCtxSynchronize());
  }
  ~Steps() {
    is_fragmented = false;
    for (const CUdeviceptr memory : left) CU_REPORT(cuMemFree(memory));
    for (const CUdeviceptr memory : left_in_pool) CU_REPORT(cuMemFreeAsync(memory, nullptr));
    CU_REPORT(cuCtxSynchronize());
    CU_REPORT(cuMemPoolDestroy(pool));
  }
  void keep_everything() {
    cuuint64_t threshold = ~cuuint64_t{0};
    CU_CHECK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  }
  void leak() {
    left.push_back(0);
    CU_THROW(cuMemAlloc(&left.back(), kSize));
  }
  CUdeviceptr from_pool() {
    CUdeviceptr memory;
    CU_THROW(cuMemAllocFromPoolAsync(&memory, kSize, pool, nullptr));
    return memory;
  }
  void use_pool() { CU_THROW(cuMemFreeAsync(from_pool(), nullptr)); }
};

}  // namespace

CUresult CUDAAPI cuMemPoolTrimTo(CUmemoryPool pool, std::size_t bytes) {
  if (Refusal::meets("cuMemPoolTrimTo")) return kRefused;
  return is_fragmented ? CUDA_SUCCESS : DRIVERS(cuMemPoolTrimTo)(pool, bytes);
}

MAY_BE_REFUSED(cuMemGetInfo, (std::size_t* free, std::size_t* total), (free, total))
MAY_BE_REFUSED(cuCtxSynchronize, (), ())
MAY_BE_REFUSED(cuMemPoolGetAttribute, (CUmemoryPool pool, CUmemPool_attribute which, void* value), (pool, which, value))

TEST_CASE_METHOD(Steps, "a step that frees everything leaves nothing") {
  CHECK(cause(pool, [] { cu::Memory memory(kSize); }) == Cause::nothing);
  CHECK(cause(pool, [this] { use_pool(); }) == Cause::nothing);
}

TEST_CASE_METHOD(Steps, "the step runs once, and then kRuns more times") {
  cause(pool, [this] { ++runs; });
  CHECK(runs == 1 + kRuns);
}

TEST_CASE_METHOD(Steps, "a leak of cuMemAlloc is found") {
  CHECK(cause(pool, [this] { leak(); }) == Cause::leak);
}

TEST_CASE_METHOD(Steps, "a leak in the pool is found") {
  CHECK(cause(pool, [this] { left_in_pool.push_back(from_pool()); }) == Cause::leak);
}

TEST_CASE_METHOD(Steps, "a leak in one run of several is found") {
  CHECK(cause(pool, [this] {
          if (++runs % 6 == 0) leak();
        }) == Cause::leak);
}

TEST_CASE_METHOD(Steps, "memory that the first run keeps is no leak") {
  CHECK(cause(pool, [this] {
          if (++runs == 1) leak();
        }) == Cause::kept);
}

TEST_CASE_METHOD(Steps, "a pool that keeps what was freed is a cache") {
  keep_everything();
  CHECK(cause(pool, [this] { use_pool(); }) == Cause::cache);
}

TEST_CASE_METHOD(Steps, "a leak beside a cache is a leak") {
  keep_everything();
  CHECK(cause(pool, [this] {
          use_pool();
          leak();
        }) == Cause::leak);
}

TEST_CASE_METHOD(Steps, "unused memory that the pool cannot return is fragmentation") {
  keep_everything();
  is_fragmented = true;
  CHECK(cause(pool, [this] { use_pool(); }) == Cause::fragmentation);
}

TEST_CASE_METHOD(Steps, "a leak is a leak, even if the pool is fragmented") {
  keep_everything();
  is_fragmented = true;
  CHECK(cause(pool, [this] {
          use_pool();
          leak();
        }) == Cause::leak);
}

TEST_CASE_METHOD(Steps, "memory that is freed in stream order is not missing") {
  const cu::Stream stream;
  const auto nap = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  CHECK(cause(pool, [&] {
          CUdeviceptr memory;
          CU_THROW(cuMemAllocFromPoolAsync(&memory, kSize, pool, stream.handle));
          CU_THROW(cuLaunchHostFunc(stream.handle, nap, nullptr));
          CU_THROW(cuMemFreeAsync(memory, stream.handle));
        }) == Cause::nothing);
}

TEST_CASE_METHOD(Steps, "what the step throws reaches the caller") {
  CHECK_THROWS_AS(cause(pool, [] { throw std::runtime_error("bad input"); }), std::runtime_error);
}

TEST_CASE_METHOD(Steps, "each call is checked: a driver error is thrown") {
  keep_everything();
  const auto solution = [this] { cause(pool, [this] { use_pool(); }); };
  CHECK(ignored_failure({"cuMemGetInfo", "cuCtxSynchronize", "cuMemPoolTrimTo"}, solution) == "");
  is_fragmented = true;
  CHECK(ignored_failure({"cuMemPoolGetAttribute"}, solution) == "");
}
