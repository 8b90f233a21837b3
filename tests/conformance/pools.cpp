// Stream-ordered allocation, and virtual memory.
#include "tests/conformance/scenario.hpp"

FRESH_CASE("Stream-ordered allocations come and go in the stream's order", "[pool]") {
  conformance::context();
  CUdeviceptr p = 0;
  ANSWERS(cuMemAllocAsync(&p, 1 << 20, 0), CUDA_SUCCESS);
  ANSWERS(cuMemFreeAsync(p, 0), CUDA_SUCCESS);
  ANSWERS(cuMemFreeAsync(p, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemAllocAsync(&p, 0, 0), CUDA_SUCCESS);
}

FRESH_CASE("Physical memory is created, mapped, made accessible, and taken apart again", "[virtual]") {
  const CUdevice dev = conformance::context().dev;
  CUmemAllocationProp pr = {};
  pr.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  pr.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  pr.location.id = dev;
  CUmemAccessDesc ad = {};
  ad.location = pr.location;
  ad.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  std::size_t g = 0;
  CUmemGenericAllocationHandle h = 0;
  CUdeviceptr va = 0;
  int x = 42, y = 0;

  ANSWERS(cuMemGetAllocationGranularity(&g, &pr, CU_MEM_ALLOC_GRANULARITY_MINIMUM), CUDA_SUCCESS);
  SHOWS("gran 2097152", "gran " << g);
  ANSWERS(cuMemCreate(&h, g + 1, &pr, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemCreate(&h, g, &pr, 0), CUDA_SUCCESS);
  ANSWERS(cuMemAddressReserve(&va, 2 * g, 0, 0, 0), CUDA_SUCCESS);
  ANSWERS(cuMemMap(va, g, 0, h, 0), CUDA_SUCCESS);
  ANSWERS(cuMemcpyHtoD(va, &x, 4), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemSetAccess(va, g, &ad, 1), CUDA_SUCCESS);
  ANSWERS(cuMemcpyHtoD(va, &x, 4), CUDA_SUCCESS);
  CU_CHECK(cuMemcpyDtoH(&y, va, 4));
  CHECK(y == 42);
  ANSWERS(cuMemAddressFree(va, 2 * g), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemUnmap(va, g), CUDA_SUCCESS);
  ANSWERS(cuMemRelease(h), CUDA_SUCCESS);
  ANSWERS(cuMemAddressFree(va, 2 * g), CUDA_SUCCESS);
  ANSWERS(cuMemRelease(h), CUDA_ERROR_INVALID_VALUE);
}
