// Allocations, and what a pointer is.
#pragma once
#include "common.cuh"
#include "scenario.hpp"

SCENARIO(device_memory) {
  void* p = reinterpret_cast<void*>(7);
  SAY(cudaMalloc(nullptr, 4));
  SAY(cudaMalloc(&p, 0));
  SHOW(p == nullptr);
  SAY(cudaMalloc(&p, 1));
  SHOW(p != nullptr);
  SHOW(reinterpret_cast<std::size_t>(p) % 256);
  SAY(cudaFree(p));
  SAY(cudaFree(p));
  SAY(cudaFree(nullptr));
  SAY(cudaMalloc(&p, 100));
  SAY(cudaFree(static_cast<char*>(p) + 4));
  SAY(cudaFree(p));
  int local = 0;
  SAY(cudaFree(&local));
  SAY(cudaMalloc(&p, std::size_t{1} << 50));
  SAY(cudaGetLastError());
  std::size_t free = 0, total = 0;
  SAY(cudaMemGetInfo(&free, &total));
  SHOW(free <= total);
  SAY(cudaMemGetInfo(nullptr, &total));
  SAY(cudaMemGetInfo(&free, nullptr));
  SAY(cudaMemGetInfo(nullptr, nullptr));
}

SCENARIO(pitched_memory) {
  void* p = nullptr;
  std::size_t pitch = 7;
  SAY(cudaMallocPitch(&p, &pitch, 100, 10));
  SHOW(pitch);
  SAY(cudaFree(p));
  SAY(cudaMallocPitch(&p, &pitch, 0, 10));
  SHOW(pitch);
  SHOW(p == nullptr);
  SAY(cudaMallocPitch(&p, &pitch, 10, 0));
  SAY(cudaMallocPitch(nullptr, &pitch, 10, 1));
  SAY(cudaMallocPitch(&p, nullptr, 10, 1));
  cudaPitchedPtr q{};
  SAY(cudaMalloc3D(&q, make_cudaExtent(100, 5, 3)));
  SHOW(q.pitch);
  SHOW(q.xsize);
  SHOW(q.ysize);
  SAY(cudaFree(q.ptr));
  SAY(cudaMalloc3D(&q, make_cudaExtent(0, 5, 3)));
  SAY(cudaMalloc3D(nullptr, make_cudaExtent(1, 5, 3)));
}

SCENARIO(host_memory) {
  void *p = nullptr, *d = nullptr;
  unsigned flags = 99;
  SAY(cudaMallocHost(nullptr, 4));
  SAY(cudaMallocHost(&p, 4096));
  SAY(cudaHostGetFlags(&flags, p));
  SHOW(flags);
  SAY(cudaHostGetDevicePointer(&d, p, 0));
  SHOW(d == p);
  SAY(cudaHostGetDevicePointer(&d, p, 5));
  SAY(cudaHostGetDevicePointer(nullptr, p, 0));
  SAY(cudaFreeHost(p));
  SAY(cudaFreeHost(p));
  SAY(cudaFreeHost(nullptr));
  SAY(cudaHostAlloc(&p, 4096, cudaHostAllocMapped | cudaHostAllocPortable));
  SAY(cudaHostGetFlags(&flags, p));
  SHOW(flags);
  SAY(cudaFreeHost(p));
  SAY(cudaHostAlloc(&p, 4096, 1u << 20));
  SAY(cudaHostAlloc(&p, 0, 0));
  int local = 0;
  SAY(cudaFreeHost(&local));
  SAY(cudaHostGetFlags(&flags, &local));
  SAY(cudaHostGetDevicePointer(&d, &local, 0));
  SAY(cudaGetLastError());
}

SCENARIO(registered_memory) {
  static char memory[1 << 16];
  void* d = nullptr;
  unsigned flags = 99;
  SAY(cudaHostRegister(memory, sizeof memory, cudaHostRegisterDefault));
  SAY(cudaHostRegister(memory, sizeof memory, cudaHostRegisterDefault));
  SAY(cudaHostGetFlags(&flags, memory));
  SHOW(flags);
  SAY(cudaHostGetDevicePointer(&d, memory, 0));
  SAY(cudaHostUnregister(memory));
  SAY(cudaHostUnregister(memory));
  SAY(cudaHostRegister(nullptr, 16, 0));
  SAY(cudaHostRegister(memory, 0, 0));
  SAY(cudaHostRegister(memory, 16, 1u << 20));
}

static void show(const void* pointer) {
  cudaPointerAttributes a;
  std::memset(&a, 0x55, sizeof a);
  SAY(cudaPointerGetAttributes(&a, pointer));
  SHOW(a.type);
  SHOW(a.device);
  SHOW(a.devicePointer == pointer);
  SHOW(a.hostPointer == pointer);
  SHOW(a.devicePointer == nullptr);
  SHOW(a.hostPointer == nullptr);
}

SCENARIO(attributes_of_pointers) {
  void *d = nullptr, *h = nullptr, *m = nullptr;
  NEED(cudaMalloc(&d, 256));
  NEED(cudaMallocHost(&h, 256));
  NEED(cudaMallocManaged(&m, 256));
  int local = 0;
  show(d);
  show(static_cast<char*>(d) + 16);
  show(h);
  show(m);
  show(&local);
  show(nullptr);
  show(reinterpret_cast<void*>(0x1000));
  SAY(cudaPointerGetAttributes(nullptr, d));
}

static __managed__ int shared_number = 5;
static __global__ void double_it() { shared_number *= 2; }

SCENARIO(managed_variable_from_the_host_first) {
  SHOW(shared_number);
  shared_number = 21;
  double_it<<<1, 1>>>();
  SAY(cudaDeviceSynchronize());
  SHOW(shared_number);
  void* p = nullptr;
  SAY(cudaGetSymbolAddress(&p, shared_number));
  SHOW(p == &shared_number);
  cudaPointerAttributes a;
  SAY(cudaPointerGetAttributes(&a, &shared_number));
  SHOW(a.type);
  const int seven = 7;
  SAY(cudaMemcpyToSymbol(shared_number, &seven, sizeof seven));
  SHOW(shared_number);
}

SCENARIO(managed_variable_from_the_device_first) {
  double_it<<<1, 1>>>();
  SAY(cudaDeviceSynchronize());
  SHOW(shared_number);
}

SCENARIO(managed_memory) {
  int* p = nullptr;
  SAY(cudaMallocManaged(&p, 1024));
  for (int i = 0; i < 256; ++i) p[i] = i;
  SAY(cudaMemset(p, 0, 512));
  add_one<<<1, 32>>>(p);
  SAY(cudaDeviceSynchronize());
  SHOW(p[0]);
  SHOW(p[128]);
  cudaMemLocation device{}, host{};
  device.type = cudaMemLocationTypeDevice;
  host.type = cudaMemLocationTypeHost;
  SAY(cudaMemPrefetchAsync(p, 1024, device, 0, nullptr));
  SAY(cudaMemPrefetchAsync(p, 1024, host, 0, nullptr));
  SAY(cudaMemAdvise(p, 1024, cudaMemAdviseSetReadMostly, device));
  int read_mostly = 9;
  SAY(cudaMemRangeGetAttribute(&read_mostly, sizeof read_mostly, cudaMemRangeAttributeReadMostly, p, 1024));
  SHOW(read_mostly);
  SAY(cudaMemAdvise(p, 1024, static_cast<cudaMemoryAdvise>(99), device));
  device.id = 99;
  SAY(cudaMemPrefetchAsync(p, 1024, device, 0, nullptr));
  SAY(cudaFree(p));
  SAY(cudaMallocManaged(&p, 0));
  SAY(cudaMallocManaged(&p, 16, 99));
  SAY(cudaMallocManaged(static_cast<void**>(nullptr), 16));
}

SCENARIO(pools) {
  cudaMemPool_t pool = nullptr, mine = nullptr;
  SAY(cudaDeviceGetDefaultMemPool(&pool, 0));
  SAY(cudaDeviceGetMemPool(&mine, 0));
  SHOW(pool == mine);
  SAY(cudaDeviceGetDefaultMemPool(&pool, 99));
  int* p = nullptr;
  SAY(cudaMallocAsync(&p, 1024, cudaStream_t{nullptr}));
  add_one<<<1, 32>>>(p);
  SAY(cudaFreeAsync(p, nullptr));
  SAY(cudaDeviceSynchronize());
  SAY(cudaMallocAsync(&p, 0, cudaStream_t{nullptr}));
  SAY(cudaFreeAsync(nullptr, nullptr));
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  SAY(cudaMemPoolCreate(&mine, &properties));
  SAY(cudaMallocFromPoolAsync(&p, 1024, mine, cudaStream_t{nullptr}));
  SAY(cudaFree(p));
  std::uint64_t threshold = 1 << 20, found = 0;
  SAY(cudaMemPoolSetAttribute(mine, cudaMemPoolAttrReleaseThreshold, &threshold));
  SAY(cudaMemPoolGetAttribute(mine, cudaMemPoolAttrReleaseThreshold, &found));
  SHOW(found);
  SAY(cudaMemPoolGetAttribute(mine, static_cast<cudaMemPoolAttr>(99), &found));
  SAY(cudaMemPoolTrimTo(mine, 0));
  SAY(cudaDeviceSetMemPool(0, mine));
  SAY(cudaDeviceSetMemPool(0, pool));
  cudaMemLocation location = properties.location;
  cudaMemAccessFlags access;
  SAY(cudaMemPoolGetAccess(&access, mine, &location));
  SHOW(access);
  SAY(cudaMemPoolDestroy(mine));
  SAY(cudaMemPoolCreate(nullptr, &properties));
  SAY(cudaMemPoolCreate(&mine, nullptr));
  SAY(cudaFreeAsync(reinterpret_cast<void*>(16), nullptr));
  SAY(cudaGetLastError());
}
