// Opens the driver's library at run time, looks up functions by name and version, and calls two of them.
#include "common/cu.hpp"

#include <dlfcn.h>

using Lookup = decltype(&cuGetProcAddress);

// Prints which function the driver has under a name for a program of this CUDA version, compared with the function of
// the row before (*last). Returns true if the status is as expected.
bool row(Lookup lookup, const char* name, int version, CUdriverProcAddressQueryResult expected, void** last) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult status;
  CU_CHECK(lookup(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  const char* what = *last == nullptr ? "a function" : found == *last ? "the same function" : "a different function";
  if (status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND) what = "unknown name";
  if (status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT) what = "not in this version";
  std::printf("  %-16s| CUDA %2d.%d | %s\n", name, version / 1000, version % 1000 / 10, what);
  *last = found;
  return status == expected && (found != nullptr) == (status == CU_GET_PROC_ADDRESS_SUCCESS);
}

int main() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);  // stays open until the process ends
  if (!driver) {
    std::printf("no driver: %s\n", dlerror());
    return 1;
  }
  std::printf("exported by the library\n");
  for (const char* name : {"cuInit", "cuMemAlloc", "cuMemAlloc_v2", "cuMemAlloc_v3"}) {
    std::printf("  %-16s| %s\n", name, dlsym(driver, name) ? "yes" : "no");
  }

  const auto lookup = reinterpret_cast<Lookup>(dlsym(driver, "cuGetProcAddress_v2"));
  if (!lookup) {
    std::printf("this driver is older than CUDA 12.0: it has no cuGetProcAddress_v2\n");
    return 1;
  }
  CU_CHECK(cuInit(0));
  int own = 0;
  CU_CHECK(cuDriverGetVersion(&own));
  std::printf("looked up by name and version\n");
  void* last = nullptr;
  bool passed = row(lookup, "cuMemAlloc", 2000, CU_GET_PROC_ADDRESS_SUCCESS, &last);
  passed &= row(lookup, "cuMemAlloc", 3010, CU_GET_PROC_ADDRESS_SUCCESS, &last);
  passed &= row(lookup, "cuMemAlloc", 3020, CU_GET_PROC_ADDRESS_SUCCESS, &last);
  passed &= row(lookup, "cuMemAlloc", own, CU_GET_PROC_ADDRESS_SUCCESS, &last);
  last = nullptr;
  passed &= row(lookup, "cuCtxCreate", 3020, CU_GET_PROC_ADDRESS_SUCCESS, &last);
  passed &= row(lookup, "cuCtxCreate", 11040, CU_GET_PROC_ADDRESS_SUCCESS, &last);
  passed &= row(lookup, "cuCtxCreate", own, CU_GET_PROC_ADDRESS_SUCCESS, &last);
  last = nullptr;
  passed &= row(lookup, "cuMemAllocAsync", 11010, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, &last);
  passed &= row(lookup, "cuMemAllocAsync", 11020, CU_GET_PROC_ADDRESS_SUCCESS, &last);
  passed &= row(lookup, "cuMemAlloc_v2", own, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, &last);

  // The same name in the manual, two functions in the library. Their parameters differ.
  CUdevice device = 0;
  CU_CHECK(cuDeviceGet(&device, 0));
  void* found = nullptr;
  CU_CHECK(lookup("cuDeviceTotalMem", &found, 2000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
  unsigned int bytes_in_2008 = 0;
  CU_CHECK(reinterpret_cast<CUresult (*)(unsigned int*, CUdevice)>(found)(&bytes_in_2008, device));
  CU_CHECK(lookup("cuDeviceTotalMem", &found, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
  std::size_t bytes = 0;
  CU_CHECK(reinterpret_cast<decltype(&cuDeviceTotalMem)>(found)(&bytes, device));
  std::printf("cuDeviceTotalMem, called through pointers\n");
  std::printf("  as in CUDA 2.0  | %u bytes\n", bytes_in_2008);
  std::printf("  as in cuda.h    | %zu bytes\n", bytes);
  return passed && bytes_in_2008 <= bytes ? 0 : 1;
}
