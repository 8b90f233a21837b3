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

FRESH_CASE("A pool gives the same memory out again, and keeps what its threshold allows", "[pool]") {
  const CUdevice dev = conformance::context().dev;
  CUmemoryPool pool = nullptr, current = nullptr;
  ANSWERS(cuDeviceGetDefaultMemPool(&pool, dev), CUDA_SUCCESS);
  ANSWERS(cuDeviceGetMemPool(&current, dev), CUDA_SUCCESS);
  CHECK(pool == current);
  CUstream s = nullptr;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  cuuint64_t threshold = ~cuuint64_t{0}, used = 1, reserved = 0;
  ANSWERS(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold), CUDA_SUCCESS);

  CUdeviceptr p = 0, q = 0;
  CU_CHECK(cuMemAllocAsync(&p, 1 << 20, s));
  CU_CHECK(cuMemsetD8Async(p, 7, 1 << 20, s));
  CU_CHECK(cuMemFreeAsync(p, s));
  CU_CHECK(cuMemAllocAsync(&q, 1 << 20, s));
  CHECK(p == q);
  CU_CHECK(cuMemsetD8Async(q, 8, 1 << 20, s));
  unsigned char last = 0;
  CU_CHECK(cuMemcpyDtoHAsync(&last, q + (1 << 20) - 1, 1, s));
  CHECK(last == 8);
  CU_CHECK(cuMemFreeAsync(q, s));
  CU_CHECK(cuStreamSynchronize(s));
  ANSWERS(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used), CUDA_SUCCESS);
  CHECK(used == 0);
  ANSWERS(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved), CUDA_SUCCESS);
  CHECK(reserved == 32 << 20);
  ANSWERS(cuMemPoolTrimTo(pool, 0), CUDA_SUCCESS);
  ANSWERS(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved), CUDA_SUCCESS);
  CHECK(reserved == 0);
  ANSWERS(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);  // the default pool stays
}

FRESH_CASE("A pool reserves in pieces of 32 MiB", "[pool]") {
  const CUdevice dev = conformance::context().dev;
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = dev;
  CUmemoryPool pool = nullptr;
  CU_CHECK(cuMemPoolCreate(&pool, &properties));
  cuuint64_t reserved = 1, used = 1;
  CUdeviceptr p[4] = {};
  const auto look = [&] {
    CU_CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
    CU_CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  };
  look();
  CHECK(reserved == 0);
  for (int i = 0; i < 4; ++i) {
    ANSWERS(cuMemAllocFromPoolAsync(&p[i], 10 << 20, pool, nullptr), CUDA_SUCCESS);
    look();
    CHECK(reserved == static_cast<cuuint64_t>(i < 3 ? 32 : 64) << 20);
    CHECK(used == static_cast<cuuint64_t>(i + 1) * (10 << 20));
  }
  for (const CUdeviceptr address : p) CU_CHECK(cuMemFreeAsync(address, nullptr));
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  look();
  CHECK(reserved == 0);  // the threshold is 0 by default
  CHECK(used == 0);
  CU_CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &reserved));
  CHECK(reserved == 64 << 20);
  ANSWERS(cuMemPoolDestroy(pool), CUDA_SUCCESS);
}

FRESH_CASE("A mapping that adjoins another is one range for a copy", "[virtual]") {
  const CUdevice dev = conformance::context().dev;
  CUmemAllocationProp pr = {};
  pr.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  pr.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  pr.location.id = dev;
  CUmemAccessDesc ad = {};
  ad.location = pr.location;
  ad.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  std::size_t g = 0;
  CU_CHECK(cuMemGetAllocationGranularity(&g, &pr, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUdeviceptr va = 0;
  CU_CHECK(cuMemAddressReserve(&va, 4 * g, 0, 0, 0));
  CUmemGenericAllocationHandle h[2] = {}, again = 0;
  for (int i = 0; i < 2; ++i) {
    CU_CHECK(cuMemCreate(&h[i], g, &pr, 0));
    CU_CHECK(cuMemMap(va + i * g, g, 0, h[i], 0));
  }
  ANSWERS(cuMemMap(va, g, 0, h[1], 0), CUDA_ERROR_INVALID_VALUE);  // there is something already
  CU_CHECK(cuMemSetAccess(va, 2 * g, &ad, 1));
  unsigned long long flags = 0;
  ANSWERS(cuMemGetAccess(&flags, &ad.location, va), CUDA_SUCCESS);
  CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);

  ANSWERS(cuMemsetD32(va, 0x01020304, 2 * g / 4), CUDA_SUCCESS);
  unsigned across[2] = {};
  ANSWERS(cuMemcpyDtoH(across, va + g - 4, 8), CUDA_SUCCESS);
  CHECK(across[0] == 0x01020304);
  CHECK(across[1] == 0x01020304);
  ANSWERS(cuMemcpyDtoH(across, va + 2 * g - 4, 8), CUDA_ERROR_INVALID_VALUE);

  // The memory lives as long as a mapping does, and a mapping gives back a handle.
  CU_CHECK(cuMemRelease(h[0]));
  ANSWERS(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(va + 100)), CUDA_SUCCESS);
  ANSWERS(cuMemUnmap(va, 2 * g), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoH(across, va, 4), CUDA_ERROR_INVALID_VALUE);
  CU_CHECK(cuMemMap(va + 2 * g, g, 0, again, 0));
  CU_CHECK(cuMemSetAccess(va + 2 * g, g, &ad, 1));
  CU_CHECK(cuMemcpyDtoH(across, va + 2 * g, 4));
  CHECK(across[0] == 0x01020304);  // the same bytes at another address
  CU_CHECK(cuMemUnmap(va + 2 * g, g));
  CU_CHECK(cuMemRelease(again));
  CU_CHECK(cuMemRelease(h[1]));
  CU_CHECK(cuMemAddressFree(va, 4 * g));
}

FRESH_CASE("A wish for certain addresses is a hint: the reservation succeeds with free ones", "[virtual]") {
  conformance::context();
  constexpr std::size_t size = 4 << 20;
  CUdeviceptr first = 0, behind = 0, again = 0;
  ANSWERS(cuMemAddressReserve(&first, size, 0, 0, 0), CUDA_SUCCESS);
  ANSWERS(cuMemAddressReserve(&behind, 2 * size, 0, first + size, 0), CUDA_SUCCESS);
  ANSWERS(cuMemAddressReserve(&again, size, 0, first, 0), CUDA_SUCCESS);  // which is taken
  CHECK((behind >= first + size || behind + 2 * size <= first));
  CHECK((again >= first + size || again + size <= first));
  CHECK((again >= behind + 2 * size || again + size <= behind));
  ANSWERS(cuMemAddressFree(behind, 2 * size), CUDA_SUCCESS);
  ANSWERS(cuMemAddressFree(first, size), CUDA_SUCCESS);
  ANSWERS(cuMemAddressFree(again, size), CUDA_SUCCESS);
}

FRESH_CASE("Memory is unmapped right after a fill of it has been launched", "[virtual]") {
  const auto F = conformance::context();
  constexpr std::size_t size = 16 << 20;
  CUmemAllocationProp place = {};
  place.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  place.location = {CU_MEM_LOCATION_TYPE_DEVICE, {F.dev}};
  const CUmemAccessDesc access{place.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUdeviceptr va = 0;
  CUmemGenericAllocationHandle h = 0;
  CU_CHECK(cuMemAddressReserve(&va, size, 0, 0, 0));
  CU_CHECK(cuMemCreate(&h, size, &place, 0));
  CU_CHECK(cuMemMap(va, size, 0, h, 0));
  CU_CHECK(cuMemSetAccess(va, size, &access, 1));
  ANSWERS(cuMemsetD8Async(va, 7, size, nullptr), CUDA_SUCCESS);
  ANSWERS(cuMemUnmap(va, size), CUDA_SUCCESS);
  const CUresult after = cuCtxSynchronize();
  // A GPU that others keep busy has not begun the fill by then.
  if (after == CUDA_ERROR_ILLEGAL_ADDRESS && !conformance::on_simulator()) return;
  CHECK(after == CUDA_SUCCESS);
  CU_CHECK(cuMemMap(va, size, 0, h, 0));
  CU_CHECK(cuMemSetAccess(va, size, &access, 1));
  unsigned char last = 0;
  CU_CHECK(cuMemcpyDtoH(&last, va + size - 1, 1));
  CHECK(last == 7);
  CU_CHECK(cuMemUnmap(va, size));
  CU_CHECK(cuMemRelease(h));
  CU_CHECK(cuMemAddressFree(va, size));
}

FRESH_CASE("A warp reads and writes across the border of two mappings", "[virtual]") {
  const conformance::Module F = conformance::module();
  CUmemAllocationProp pr = {};
  pr.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  pr.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  pr.location.id = F.dev;
  CUmemAccessDesc ad = {};
  ad.location = pr.location;
  ad.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  std::size_t g = 0;
  CU_CHECK(cuMemGetAllocationGranularity(&g, &pr, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUdeviceptr va = 0;
  CU_CHECK(cuMemAddressReserve(&va, 2 * g, 0, 0, 0));
  for (int i = 0; i < 2; ++i) {
    CUmemGenericAllocationHandle h = 0;
    CU_CHECK(cuMemCreate(&h, g, &pr, 0));
    CU_CHECK(cuMemMap(va + i * g, g, 0, h, 0));
  }
  CU_CHECK(cuMemSetAccess(va, 2 * g, &ad, 1));
  CUdeviceptr scale = 0;
  const float one = 1;
  CU_CHECK(cuModuleGetGlobal(&scale, nullptr, F.mod, "coef"));
  CU_CHECK(cuMemcpyHtoD(scale, &one, 4));
  float in[32], out[32] = {};
  for (int i = 0; i < 32; ++i) in[i] = static_cast<float>(i);
  CUdeviceptr border = va + g - 64;  // sixteen floats before it, sixteen behind
  CU_CHECK(cuMemcpyHtoD(border, in, sizeof in));
  int n = 32;
  void* a[] = {&border, &border, &border, &n};
  ANSWERS(cuLaunchKernel(F("vadd"), 1, 1, 1, 32, 1, 1, 0, 0, a, 0), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  CU_CHECK(cuMemcpyDtoH(out, border, sizeof out));
  for (int i = 0; i < 32; ++i) CHECK(out[i] == 2 * in[i]);
}

FRESH_CASE("A kernel that comes after a free in its stream faults, one before it does not", "[pool]") {
  const conformance::Module F = conformance::module();
  CUdeviceptr p = 0;
  CU_CHECK(cuMemAllocAsync(&p, 4096, 0));
  void* a[] = {&p};
  ANSWERS(cuLaunchKernel(F("null_write"), 1, 1, 1, 1, 1, 1, 0, 0, a, 0), CUDA_SUCCESS);
  ANSWERS(cuMemFreeAsync(p, 0), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  if (!conformance::on_simulator()) return;  // a GPU may have the page mapped still
  ANSWERS(cuLaunchKernel(F("null_write"), 1, 1, 1, 1, 1, 1, 0, 0, a, 0), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

#if CUDA_VERSION >= 12020
FRESH_CASE("A pool may be on the host: devices touch its memory if they are let", "[pool]") {
  conformance::context();
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_HOST;
  CUmemoryPool pool = nullptr;
  ANSWERS(cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
  CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CUmemLocation device{};
  device.type = CU_MEM_LOCATION_TYPE_DEVICE;
  ANSWERS(cuMemPoolGetAccess(&flags, pool, &device), CUDA_SUCCESS);
  CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE);
  CUmemLocation host{};
  host.type = CU_MEM_LOCATION_TYPE_HOST;
  ANSWERS(cuMemPoolGetAccess(&flags, pool, &host), CUDA_SUCCESS);
  CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  CUmemAccessDesc access{};
  access.location = device;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CUdeviceptr p = 0;
  ANSWERS(cuMemPoolSetAccess(pool, &access, 1), CUDA_SUCCESS);
  ANSWERS(cuDeviceSetMemPool(device.id, pool), CUDA_ERROR_INVALID_VALUE);  // a device's pool is of its own memory
  ANSWERS(cuDeviceSetMemPool(99, pool), CUDA_ERROR_INVALID_VALUE);
  CUmemoryPool none = nullptr;
  ANSWERS(cuDeviceGetMemPool(&none, 99), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemAllocFromPoolAsync(&p, 4096, pool, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  unsigned type = 0;
  ANSWERS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p), CUDA_SUCCESS);
  CHECK(type == CU_MEMORYTYPE_HOST);
  volatile int* const here = reinterpret_cast<int*>(p);
  here[5] = 77;
  int table[64] = {};
  ANSWERS(cuMemcpyDtoH(table, p, sizeof table), CUDA_ERROR_INVALID_VALUE);  // it is no device's
  ANSWERS(cuMemcpy(reinterpret_cast<CUdeviceptr>(table), p, sizeof table), CUDA_SUCCESS);
  CHECK(table[5] == 77);
  ANSWERS(cuMemFreeAsync(p, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  ANSWERS(cuMemPoolDestroy(pool), CUDA_SUCCESS);
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = 99;
  ANSWERS(cuMemPoolCreate(&pool, &properties), CUDA_ERROR_INVALID_VALUE);
}
#endif

#if CUDA_VERSION >= 13000
FRESH_CASE("Every place that memory can be in has a pool of its own", "[pool]") {
  const CUdevice dev = conformance::context().dev;
  CUmemLocation location{};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = dev;
  CUmemoryPool of_device = nullptr, pool = nullptr, current = nullptr;
  CU_CHECK(cuDeviceGetDefaultMemPool(&of_device, dev));
  ANSWERS(cuMemGetDefaultMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED), CUDA_SUCCESS);
  CHECK(pool == of_device);
  ANSWERS(cuMemGetDefaultMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_INVALID), CUDA_ERROR_INVALID_VALUE);
  location.type = CU_MEM_LOCATION_TYPE_INVALID;
  ANSWERS(cuMemGetDefaultMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED), CUDA_ERROR_INVALID_VALUE);

  location.type = CU_MEM_LOCATION_TYPE_HOST;
  CUdeviceptr p = 0;
  unsigned type = 0, managed = 9;
  ANSWERS(cuMemGetDefaultMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED), CUDA_SUCCESS);
  ANSWERS(cuMemGetMemPool(&current, &location, CU_MEM_ALLOCATION_TYPE_PINNED), CUDA_SUCCESS);
  CHECK(pool == current);
  CHECK(pool != of_device);
  ANSWERS(cuMemAllocFromPoolAsync(&p, 4096, pool, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  ANSWERS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p), CUDA_SUCCESS);
  CHECK(type == CU_MEMORYTYPE_HOST);
  ANSWERS(cuMemFreeAsync(p, nullptr), CUDA_SUCCESS);
  ANSWERS(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);

  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  ANSWERS(cuMemGetDefaultMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_MANAGED), CUDA_SUCCESS);
  CHECK(pool != of_device);
  ANSWERS(cuMemAllocFromPoolAsync(&p, 4096, pool, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  ANSWERS(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p), CUDA_SUCCESS);
  CHECK(managed == 1);
  ANSWERS(cuMemsetD32(p, 7, 1024), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  CHECK(reinterpret_cast<volatile unsigned*>(p)[1023] == 7);
  ANSWERS(cuMemFree(p), CUDA_SUCCESS);

  // A pool is set for the place that it is of.
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = location;
  CU_CHECK(cuMemPoolCreate(&pool, &properties));
  ANSWERS(cuMemSetMemPool(&location, CU_MEM_ALLOCATION_TYPE_MANAGED, pool), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemSetMemPool(&location, CU_MEM_ALLOCATION_TYPE_PINNED, pool), CUDA_SUCCESS);
  ANSWERS(cuDeviceGetMemPool(&current, dev), CUDA_SUCCESS);
  CHECK(current == pool);
}
#endif

FRESH_CASE("Access to a pool's memory is set device by device, and all or nothing", "[pool]") {
  conformance::context();
  CUmemoryPool pool = nullptr, host = nullptr, fabric = nullptr;
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CU_CHECK(cuMemPoolCreate(&pool, &properties));
  properties.handleTypes = static_cast<CUmemAllocationHandleType>(64);
  ANSWERS(cuMemPoolCreate(&fabric, &properties), CUDA_ERROR_INVALID_VALUE);
  properties.handleTypes = static_cast<CUmemAllocationHandleType>(8);  // CU_MEM_HANDLE_TYPE_FABRIC
  ANSWERS(cuMemPoolCreate(&fabric, &properties), CUDA_SUCCESS);
  properties.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
  properties.location.type = static_cast<CUmemLocationType>(2);  // CU_MEM_LOCATION_TYPE_HOST
  CU_CHECK(cuMemPoolCreate(&host, &properties));
  int two = 2;
  ANSWERS(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &two), CUDA_SUCCESS);
  CUmemAccessDesc a{};
  a.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  a.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  ANSWERS(cuMemPoolSetAccess(pool, &a, 1), CUDA_ERROR_INVALID_DEVICE);  // it is that device's
  a.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
  ANSWERS(cuMemPoolSetAccess(pool, &a, 1), CUDA_ERROR_NOT_SUPPORTED);
  ANSWERS(cuMemPoolSetAccess(host, &a, 1), CUDA_ERROR_NOT_SUPPORTED);
  a.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  ANSWERS(cuMemPoolSetAccess(pool, &a, 0), CUDA_SUCCESS);
  a.location.id = 99;
  ANSWERS(cuMemPoolSetAccess(pool, &a, 1), CUDA_ERROR_INVALID_DEVICE);
  CUmemAccess_flags flags{};
  ANSWERS(cuMemPoolGetAccess(&flags, pool, &a.location), CUDA_ERROR_INVALID_VALUE);
  a.location.id = 0;
  a.location.type = static_cast<CUmemLocationType>(2);
  ANSWERS(cuMemPoolSetAccess(pool, &a, 1), CUDA_ERROR_NOT_SUPPORTED);
  ANSWERS(cuMemPoolSetAccess(host, &a, 1), CUDA_SUCCESS);
  CUdeviceptr managed = 0;
  CU_CHECK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  ANSWERS(cuMemFreeAsync(managed, nullptr), CUDA_ERROR_NOT_SUPPORTED);
}

FRESH_CASE("A host pool's memory is copied as host or unified memory, and filled if a device has access", "[pool]") {
  conformance::context();
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = static_cast<CUmemLocationType>(2);  // CU_MEM_LOCATION_TYPE_HOST
  CUmemoryPool pool = nullptr;
  CUdeviceptr p = 0, q = 0, base = 0;
  std::size_t size = 0;
  unsigned flags = 0;
  char here[64] = {};
  CU_CHECK(cuMemPoolCreate(&pool, &properties));
  CU_CHECK(cuMemAlloc(&q, 4096));
  for (const bool let : {false, true}) {
    CAPTURE(let);
    CUmemAccessDesc a{};
    a.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    a.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (let) CU_CHECK(cuMemPoolSetAccess(pool, &a, 1));
    CU_CHECK(cuMemAllocFromPoolAsync(&p, 4096, pool, nullptr));
    CU_CHECK(cuCtxSynchronize());
    void* const as_host = reinterpret_cast<void*>(p);
    ANSWERS(cuMemcpyDtoH(here, p, 64), CUDA_ERROR_INVALID_VALUE);
    ANSWERS(cuMemcpyHtoD(p, here, 64), CUDA_ERROR_INVALID_VALUE);
    ANSWERS(cuMemcpyDtoD(q, p, 64), CUDA_ERROR_INVALID_VALUE);
    ANSWERS(cuMemcpyDtoD(p, q, 64), CUDA_ERROR_INVALID_VALUE);
    ANSWERS(cuMemcpyDtoHAsync(here, p, 64, nullptr), CUDA_ERROR_INVALID_VALUE);
    ANSWERS(cuMemcpyHtoD(q, as_host, 64), CUDA_SUCCESS);
    ANSWERS(cuMemcpyDtoH(as_host, q, 64), CUDA_SUCCESS);
    ANSWERS(cuMemcpy(p, q, 64), CUDA_SUCCESS);
    ANSWERS(cuMemcpy(q, p, 64), CUDA_SUCCESS);
    ANSWERS(cuMemcpyAsync(q, p, 64, nullptr), CUDA_SUCCESS);
    const CUresult filled = let ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    CHECK(conformance::answer("cuMemsetD8(p, 1, 64)", cuMemsetD8(p, 1, 64)) == cu::name(filled));
    ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
    ANSWERS(cuMemHostGetFlags(&flags, as_host), CUDA_ERROR_INVALID_VALUE);
    const CUresult known = let ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
    CHECK(conformance::answer("cuMemGetAddressRange(&base, &size, p + 16)",
                              cuMemGetAddressRange(&base, &size, p + 16)) == cu::name(known));
    CHECK((!let || (base == p && size == 4096)));
    CU_CHECK(cuMemFreeAsync(p, nullptr));
    CU_CHECK(cuCtxSynchronize());
  }
}

FRESH_CASE("Addresses are unmapped whether there is something or not, but no mapping is cut", "[virtual]") {
  conformance::context();
  constexpr std::size_t g = 2 << 20;
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemGenericAllocationHandle h = 0;
  CUdeviceptr va = 0;
  CU_CHECK(cuMemCreate(&h, 2 * g, &properties, 0));
  CU_CHECK(cuMemAddressReserve(&va, 4 * g, 0, 0, 0));
  ANSWERS(cuMemUnmap(va, g), CUDA_SUCCESS);
  CU_CHECK(cuMemMap(va, 2 * g, 0, h, 0));
  CUmemAccessDesc nobody{};
  nobody.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  nobody.location.id = 99;
  nobody.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  ANSWERS(cuMemSetAccess(va, 2 * g, &nobody, 1), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemUnmap(va, g), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemUnmap(va + g, g), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemUnmap(va, 4 * g), CUDA_SUCCESS);
  ANSWERS(cuMemUnmap(va + 3 * g, g), CUDA_SUCCESS);
  ANSWERS(cuMemAddressFree(va, 4 * g), CUDA_SUCCESS);
  ANSWERS(cuMemUnmap(va, 2 * g), CUDA_ERROR_INVALID_VALUE);  // addresses without a mapping
}
