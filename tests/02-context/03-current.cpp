// Checks the learner's repair of the cache (exercise of 02-context/03-current).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <string>
#include <thread>
#include <vector>

struct Cache;
Cache* cache_open(CUdevice device);
void cache_store(Cache* cache, const std::string& key, const std::vector<unsigned>& numbers);
bool cache_load(Cache* cache, const std::string& key, std::vector<unsigned>& numbers);
void cache_close(Cache* cache);

namespace {

using Stack = std::vector<CUcontext>;
const std::vector<unsigned> kNumbers = {3, 1, 4, 1, 5};

int created = 0;                   // contexts
std::vector<CUcontext> destroyed;  // contexts
std::vector<CUcontext> allocated;  // the current context at each cuMemAlloc

// This thread's stack, top first. The stack is empty afterwards. Checks use this function once a context may have been
// destroyed, because pushing a destroyed context is undefined.
Stack emptied() {
  Stack from_top;
  CUcontext top;
  while (cuCtxPopCurrent(&top) == CUDA_SUCCESS) from_top.push_back(top);
  return from_top;
}

// The same, and the stack is unchanged afterwards.
Stack stack() {
  Stack from_top = emptied();
  for (auto entry = from_top.rbegin(); entry != from_top.rend(); ++entry) CU_CHECK(cuCtxPushCurrent(*entry));
  return from_top;
}

// An application with two contexts on its stack. The upper one is current.
struct Application {
  CUdevice device;
  CUcontext lower, upper;
  Application() {
    CU_CHECK(cuInit(0));
    CU_CHECK(cuDeviceGet(&device, 0));
    CU_CHECK(cuCtxCreate(&lower, nullptr, 0, device));
    CU_CHECK(cuCtxCreate(&upper, nullptr, 0, device));
    created = 0;
    destroyed.clear();
    allocated.clear();
  }
  ~Application() {
    emptied();
    cuCtxDestroy(upper);
    cuCtxDestroy(lower);
  }
  Stack unchanged() const { return {upper, lower}; }
};

}  // namespace

#if CUDA_VERSION >= 13000
CUresult CUDAAPI cuCtxCreate(CUcontext* context, CUctxCreateParams* parameters, unsigned int flags, CUdevice device) {
  ++created;
  return DRIVERS(cuCtxCreate)(context, parameters, flags, device);
}
#else
CUresult CUDAAPI cuCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice device) {
  ++created;
  return DRIVERS(cuCtxCreate_v2)(context, flags, device);
}
#endif

CUresult CUDAAPI cuCtxDestroy(CUcontext context) {
  destroyed.push_back(context);
  return DRIVERS(cuCtxDestroy)(context);
}

CUresult CUDAAPI cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  if (Refusal::meets("cuMemAlloc")) return kRefused;
  allocated.push_back(current());
  return DRIVERS(cuMemAlloc)(address, bytes);
}

MAY_BE_REFUSED(cuMemcpyDtoH, (void* to, CUdeviceptr from, std::size_t bytes), (to, from, bytes))
MAY_BE_REFUSED(cuMemcpyHtoD, (CUdeviceptr to, const void* from, std::size_t bytes), (to, from, bytes))

TEST_CASE_METHOD(Application, "a stored array can be loaded") {
  Cache* const cache = cache_open(device);
  cache_store(cache, "pi", kNumbers);
  std::vector<unsigned> numbers;
  CHECK(cache_load(cache, "pi", numbers));
  CHECK(numbers == kNumbers);
  CHECK_FALSE(cache_load(cache, "e", numbers));
  cache_close(cache);
}

TEST_CASE_METHOD(Application, "opening a cache leaves the caller's context current") {
  Cache* const cache = cache_open(device);
  CHECK(stack() == unchanged());
  cache_close(cache);
}

TEST_CASE_METHOD(Application, "a buffer of the application survives the cache") {
  Cache* const cache = cache_open(device);
  CUdeviceptr buffer;
  CU_CHECK(cuMemAlloc(&buffer, 4));
  CU_CHECK(cuMemsetD32(buffer, 7, 1));
  CU_CHECK(cuCtxSynchronize());
  cache_close(cache);
  unsigned number = 0;
  CHECK(cuMemcpyDtoH(&number, buffer, 4) == CUDA_SUCCESS);
  CHECK(number == 7);
}

TEST_CASE_METHOD(Application, "a lookup that finds nothing leaves the stack unchanged") {
  Cache* const cache = cache_open(device);
  const Stack before = stack();
  std::vector<unsigned> numbers;
  CHECK_FALSE(cache_load(cache, "e", numbers));
  CHECK(stack() == before);
  cache_close(cache);
}

TEST_CASE_METHOD(Application, "a store that fails throws and leaves the stack unchanged") {
  Cache* const cache = cache_open(device);
  const Stack before = stack();
  CHECK_THROWS_AS(cache_store(cache, "empty", {}), cu::Error);
  CHECK(stack() == before);
  for (const char* call : {"cuMemAlloc", "cuMemcpyHtoD"}) {
    const Refusal refusal(call);
    CAPTURE(call);
    CHECK_THROWS_AS(cache_store(cache, "pi", kNumbers), cu::Error);
    CHECK(stack() == before);
  }
  cache_close(cache);
}

TEST_CASE_METHOD(Application, "a lookup that fails throws and leaves the stack unchanged") {
  Cache* const cache = cache_open(device);
  cache_store(cache, "pi", kNumbers);
  const Stack before = stack();
  std::vector<unsigned> numbers;
  {
    const Refusal refusal("cuMemcpyDtoH");
    CHECK_THROWS_AS(cache_load(cache, "pi", numbers), cu::Error);
  }
  CHECK(stack() == before);
  cache_close(cache);
}

TEST_CASE_METHOD(Application, "no entry is added to or removed from the stack, however often the cache is used") {
  Cache* const cache = cache_open(device);
  std::vector<unsigned> numbers;
  for (int i = 0; i < 3; ++i) {
    cache_store(cache, std::to_string(i), kNumbers);
    CHECK(cache_load(cache, std::to_string(i), numbers));
    CHECK_FALSE(cache_load(cache, "e", numbers));
  }
  CHECK(stack() == unchanged());
  cache_close(cache);
  CHECK(emptied() == unchanged());
}

TEST_CASE_METHOD(Application, "a caller without a context can use the cache and has none afterwards") {
  std::vector<unsigned> numbers;
  Stack afterwards = {upper};
  std::thread([&] {
    try {
      Cache* const cache = cache_open(device);
      cache_store(cache, "pi", kNumbers);
      cache_load(cache, "pi", numbers);
      cache_close(cache);
      afterwards = emptied();
    } catch (const cu::Error&) {  // the checks below report it
    }
  }).join();
  CHECK(numbers == kNumbers);
  CHECK(afterwards.empty());
}

TEST_CASE_METHOD(Application, "the arrays are in the cache's own context") {
  Cache* const cache = cache_open(device);
  allocated.clear();
  cache_store(cache, "pi", kNumbers);
  REQUIRE(allocated.size() == 1);
  CHECK(allocated[0] != upper);
  CHECK(allocated[0] != lower);
  CHECK(created == 1);
  cache_close(cache);
}

TEST_CASE_METHOD(Application, "closing the cache destroys its context and no other") {
  Cache* const cache = cache_open(device);
  allocated.clear();
  cache_store(cache, "pi", kNumbers);
  cache_close(cache);
  CHECK(destroyed == allocated);  // the context in which the array was allocated
}

TEST_CASE_METHOD(Application, "a cache on a device that does not exist is an error, and leaves the stack unchanged") {
  CHECK_THROWS_AS(cache_open(99), cu::Error);
  CHECK(stack() == unchanged());
}
