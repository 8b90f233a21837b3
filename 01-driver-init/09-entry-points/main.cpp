// Opens the driver by hand, asks it for its functions by name and version, and calls one through the pointer it gets.
#include "common/cu.hpp"

#include <dlfcn.h>

using Lookup = decltype(&cuGetProcAddress);

// Prints one row: what the driver has under a name in the sense of a CUDA version. True if it answers as expected.
bool row(Lookup lookup, const char* name, int version, CUdriverProcAddressQueryResult expected, void** last) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult status;
  CU_CHECK(lookup(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  const char* what = *last == nullptr ? "a function" : found == *last ? "the same function" : "another function";
  if (status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND) what = "unknown name";
  if (status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT) what = "newer than that";
  std::printf("  %-16s| as of %2d.%d | %s\n", name, version / 1000, version % 1000 / 10, what);
  *last = found;
  return status == expected && (found != nullptr) == (status == CU_GET_PROC_ADDRESS_SUCCESS);
}

int main() {
  // Never closed: the driver is called until the process ends.
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) {
    std::printf("no driver: %s\n", dlerror());
    return 1;
  }
  std::printf("as the loader knows them\n");
  for (const char* name : {"cuInit", "cuMemAlloc", "cuMemAlloc_v2", "cuMemAlloc_v3"}) {
    std::printf("  %-16s| %s\n", name, dlsym(driver, name) ? "exported" : "not exported");
  }

  const auto lookup = reinterpret_cast<Lookup>(dlsym(driver, "cuGetProcAddress_v2"));
  const auto init = reinterpret_cast<decltype(&cuInit)>(dlsym(driver, "cuInit"));
  if (!lookup) std::printf("a driver older than CUDA 12.0 has no cuGetProcAddress_v2\n");
  if (!lookup) return 1;
  CU_CHECK(init(0));
  int own, count = 0;
  CU_CHECK(cuDriverGetVersion(&own));

  std::printf("as the driver knows them\n");
  void* last = nullptr;
  bool right = row(lookup, "cuMemAlloc", 2000, CU_GET_PROC_ADDRESS_SUCCESS, &last);
  right &= row(lookup, "cuMemAlloc", 3010, CU_GET_PROC_ADDRESS_SUCCESS, &last);
  right &= row(lookup, "cuMemAlloc", 3020, CU_GET_PROC_ADDRESS_SUCCESS, &last);
  right &= row(lookup, "cuMemAlloc", own, CU_GET_PROC_ADDRESS_SUCCESS, &last);
  last = nullptr;
  right &= row(lookup, "cuCtxCreate", 3020, CU_GET_PROC_ADDRESS_SUCCESS, &last);
  right &= row(lookup, "cuCtxCreate", 11040, CU_GET_PROC_ADDRESS_SUCCESS, &last);
  right &= row(lookup, "cuCtxCreate", own, CU_GET_PROC_ADDRESS_SUCCESS, &last);
  last = nullptr;
  right &= row(lookup, "cuMemAllocAsync", 11010, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, &last);
  right &= row(lookup, "cuMemAllocAsync", 11020, CU_GET_PROC_ADDRESS_SUCCESS, &last);
  right &= row(lookup, "cuMemAlloc_v2", own, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, &last);

  CU_CHECK(lookup("cuDeviceGetCount", &last, own, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
  CU_CHECK(reinterpret_cast<decltype(&cuDeviceGetCount)>(last)(&count));
  std::printf("called through its pointer\n  cuDeviceGetCount| %d\n", count);
  return right && count > 0 ? 0 : 1;
}
