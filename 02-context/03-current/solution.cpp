// A cache that keeps arrays of numbers in device memory. It has its own context, so that its memory is independent of
// the application's context.
#include "common/cu.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

struct Array {
  CUdeviceptr address;
  std::size_t count;
};

struct Cache {
  CUcontext context = nullptr;
  std::map<std::string, Array> arrays;
};

// Opens an empty cache on `device`. Throws cu::Error if a driver call fails.
Cache* cache_open(CUdevice device) {
  auto cache = std::make_unique<Cache>();
  CU_THROW(cuCtxCreate(&cache->context, nullptr, 0, device));
  CUcontext popped;
  CU_THROW(cuCtxPopCurrent(&popped));  // cuCtxCreate has pushed the context onto the caller's stack
  return cache.release();
}

// Stores a copy of `numbers` under `key`, which must be new. Throws cu::Error if a driver call fails; an empty array,
// for example, cannot be allocated.
void cache_store(Cache* cache, const std::string& key, const std::vector<unsigned>& numbers) {
  const cu::Current current(cache->context);
  Array array{0, numbers.size()};
  CU_THROW(cuMemAlloc(&array.address, numbers.size() * sizeof(unsigned)));
  const CUresult copied = cuMemcpyHtoD(array.address, numbers.data(), numbers.size() * sizeof(unsigned));
  if (copied != CUDA_SUCCESS) CU_REPORT(cuMemFree(array.address));
  CU_THROW(copied);
  cache->arrays[key] = array;
}

// Copies the array with this key to `numbers`. Returns false if the key is unknown. Throws cu::Error if a driver call
// fails.
bool cache_load(Cache* cache, const std::string& key, std::vector<unsigned>& numbers) {
  const auto found = cache->arrays.find(key);
  if (found == cache->arrays.end()) return false;
  const cu::Current current(cache->context);
  numbers.resize(found->second.count);
  CU_THROW(cuMemcpyDtoH(numbers.data(), found->second.address, numbers.size() * sizeof(unsigned)));
  return true;
}

// Destroys the cache, its context, and the arrays in it. Throws cu::Error if a driver call fails.
void cache_close(Cache* cache) {
  const std::unique_ptr<Cache> owner(cache);
  CU_THROW(cuCtxDestroy(cache->context));
}
