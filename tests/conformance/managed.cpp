// Unified memory: one pointer for host and device, and what is said about it.
#include "tests/conformance/scenario.hpp"

FRESH_CASE("Managed memory has one pointer for both sides", "[managed]") {
  conformance::context();
  CUdeviceptr p = 0;
  ANSWERS(cuMemAllocManaged(&p, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemAllocManaged(&p, 4096, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemAllocManaged(&p, 4096, CU_MEM_ATTACH_SINGLE), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemAllocManaged(&p, 1 << 16, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  unsigned* const host = reinterpret_cast<unsigned*>(p);
  host[3] = 5;
  unsigned seen = 0, managed = 0;
  CUmemorytype type{};
  ANSWERS(cuMemcpyDtoH(&seen, p + 12, 4), CUDA_SUCCESS);
  CHECK(seen == 5);
  ANSWERS(cuMemsetD32(p, 9, 1 << 14), CUDA_SUCCESS);
  CHECK(host[16383] == 9);  // a fill of managed memory is done when the call returns
  ANSWERS(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p), CUDA_SUCCESS);
  CHECK(managed == 1);
  ANSWERS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p), CUDA_SUCCESS);
  CHECK(type == CU_MEMORYTYPE_DEVICE);
  ANSWERS(cuMemFree(p), CUDA_SUCCESS);
  ANSWERS(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
}

FRESH_CASE("Advice and prefetching are remembered, page by page", "[managed]") {
  const CUdevice dev = conformance::context().dev;
  int concurrent = 0;
  CU_CHECK(cuDeviceGetAttribute(&concurrent, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, dev));
  if (!concurrent) SKIP_TEST("the device has no concurrent managed access");
  constexpr std::size_t n = 4 << 20;
  CUdeviceptr p = 0;
  CU_CHECK(cuMemAllocManaged(&p, n, CU_MEM_ATTACH_GLOBAL));
  int value = 9;
#if CUDA_VERSION >= 13000
  CUmemLocation here = {};
  here.type = CU_MEM_LOCATION_TYPE_DEVICE;
  here.id = dev;
  ANSWERS(cuMemAdvise(p, n, CU_MEM_ADVISE_SET_READ_MOSTLY, here), CUDA_SUCCESS);
  ANSWERS(cuMemAdvise(p, n / 2, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here), CUDA_SUCCESS);
  ANSWERS(cuMemPrefetchAsync(p, n, here, 0, 0), CUDA_SUCCESS);
#else
  ANSWERS(cuMemAdvise(p, n, CU_MEM_ADVISE_SET_READ_MOSTLY, dev), CUDA_SUCCESS);
  ANSWERS(cuMemAdvise(p, n / 2, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, dev), CUDA_SUCCESS);
  ANSWERS(cuMemPrefetchAsync(p, n, dev, 0), CUDA_SUCCESS);
#endif
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  ANSWERS(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, n), CUDA_SUCCESS);
  CHECK(value == 1);
  ANSWERS(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, n / 2), CUDA_SUCCESS);
  CHECK(value == dev);
  ANSWERS(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, n), CUDA_SUCCESS);
  CHECK(value == CU_DEVICE_INVALID);  // not the same for all of it
  ANSWERS(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, n), CUDA_SUCCESS);
  CHECK(value == dev);
  ANSWERS(cuMemRangeGetAttribute(&value, 3, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, n), CUDA_ERROR_INVALID_VALUE);
#if CUDA_VERSION >= 13000
  CUstream s = nullptr;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CUdeviceptr parts[] = {p, p + n / 2};
  std::size_t sizes[] = {n / 2, n / 2}, first[] = {0};
  ANSWERS(cuMemPrefetchBatchAsync(parts, sizes, 2, &here, first, 1, 0, s), CUDA_SUCCESS);
  ANSWERS(cuMemPrefetchBatchAsync(parts, sizes, 2, &here, first, 1, 0, CU_STREAM_LEGACY), CUDA_ERROR_INVALID_VALUE);
#endif
  CUdeviceptr plain = 0;
  CU_CHECK(cuMemAlloc(&plain, 4096));
  ANSWERS(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, plain, 4096), CUDA_ERROR_INVALID_VALUE);
}

#if CUDA_VERSION >= 13000
FRESH_CASE("Advice that concerns no place looks at none", "[managed]") {
  conformance::context();
  CUdeviceptr m = 0;
  CU_CHECK(cuMemAllocManaged(&m, 65536, CU_MEM_ATTACH_GLOBAL));
  CUmemLocation nowhere{};
  nowhere.type = CU_MEM_LOCATION_TYPE_DEVICE;
  nowhere.id = 99;
  ANSWERS(cuMemAdvise(m, 65536, CU_MEM_ADVISE_SET_READ_MOSTLY, nowhere), CUDA_SUCCESS);
  ANSWERS(cuMemAdvise(m, 65536, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, nowhere), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemAdvise(m, 65536, CU_MEM_ADVISE_SET_ACCESSED_BY, nowhere), CUDA_ERROR_INVALID_VALUE);
}
#endif
