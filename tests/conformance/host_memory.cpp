// Host memory: allocated page-locked, registered, and plain.
#include "tests/conformance/scenario.hpp"

#include <sys/mman.h>

FRESH_CASE("Page-locked memory is allocated, registered and freed by its own calls", "[host]") {
  conformance::context();
  void* h = nullptr;
  CUdeviceptr d = 0;
  unsigned f = 0;
  int local = 0;

  ANSWERS(cuMemHostAlloc(&h, 0, 0), CUDA_SUCCESS);
  ANSWERS(cuMemHostAlloc(&h, 4096, 0x80), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(
      cuMemHostAlloc(&h, 4096, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED),
      CUDA_SUCCESS);
  ANSWERS(cuMemHostGetFlags(&f, h), CUDA_SUCCESS);
  SHOWS("flags 7", "flags " << f);
  ANSWERS(cuMemHostGetDevicePointer(&d, h, 0), CUDA_SUCCESS);
  SHOWS("same 1", "same " << (d == (CUdeviceptr)h));
  ANSWERS(cuMemHostGetDevicePointer(&d, h, 1), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemFreeHost(h), CUDA_SUCCESS);
  ANSWERS(cuMemFreeHost(h), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemFreeHost(&local), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemHostGetFlags(&f, &local), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemHostGetDevicePointer(&d, &local, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemFreeHost(nullptr), CUDA_SUCCESS);

  void* const g = std::aligned_alloc(4096, 8192);
  ANSWERS(cuMemHostRegister(g, 8192, CU_MEMHOSTREGISTER_DEVICEMAP), CUDA_SUCCESS);
  ANSWERS(cuMemHostRegister(g, 8192, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  ANSWERS(cuMemHostGetFlags(&f, g), CUDA_SUCCESS);
  SHOWS("flags 2", "flags " << f);
  ANSWERS(cuMemFreeHost(g), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemHostUnregister(g), CUDA_SUCCESS);
  ANSWERS(cuMemHostUnregister(g), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  ANSWERS(cuMemHostRegister(nullptr, 8192, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemHostRegister(g, 0, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemHostRegister((char*)g + 10, 100, 0), CUDA_SUCCESS);
  ANSWERS(cuMemHostUnregister((char*)g + 10), CUDA_SUCCESS);
  std::free(g);
}

FRESH_CASE("Only what was registered is unregistered, and read-only pages say so", "[host]") {
  conformance::context();
  unsigned f = 0;
  int local = 0;
  void* h = nullptr;
  void* const g = std::aligned_alloc(4096, 8192);
  ANSWERS(cuMemHostAlloc(&h, 4096, 0), CUDA_SUCCESS);
  ANSWERS(cuMemHostGetFlags(&f, h), CUDA_SUCCESS);
  SHOWS("flags 2", "flags " << f);
  ANSWERS(cuMemHostRegister(g, 8192, 0), CUDA_SUCCESS);
  ANSWERS(cuMemHostGetFlags(&f, g), CUDA_SUCCESS);
  SHOWS("flags 2", "flags " << f);
  ANSWERS(cuMemHostRegister((char*)g + 4096, 4096, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  ANSWERS(cuMemHostUnregister((char*)g + 4096), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemHostUnregister(h), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemHostRegister(h, 4096, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemHostUnregister(&local), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  ANSWERS(cuMemHostUnregister(g), CUDA_SUCCESS);

  void* const r = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ANSWERS(cuMemHostRegister(r, 4096, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemHostRegister(r, 4096, CU_MEMHOSTREGISTER_READ_ONLY), CUDA_SUCCESS);
  ANSWERS(cuMemHostUnregister(r), CUDA_SUCCESS);
  munmap(r, 4096);
  std::free(g);
}

FRESH_CASE("A kernel writes mapped and registered host memory", "[host]") {
  const conformance::Module F = conformance::module();
  int* h = nullptr;
  CU_CHECK(cuMemHostAlloc(reinterpret_cast<void**>(&h), 4096, CU_MEMHOSTALLOC_DEVICEMAP));
  static int g[1024];
  CU_CHECK(cuMemHostRegister(g, sizeof g, CU_MEMHOSTREGISTER_DEVICEMAP));
  h[0] = g[0] = 0;
  for (void* host : {static_cast<void*>(h), static_cast<void*>(g)}) {
    CUdeviceptr d = 0;
    CU_CHECK(cuMemHostGetDevicePointer(&d, host, 0));
    void* a[] = {&d};
    ANSWERS(cuLaunchKernel(F("null_write"), 1, 1, 1, 1, 1, 1, 0, 0, a, 0), CUDA_SUCCESS);
  }
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  CHECK(h[0] == 1);
  CHECK(g[0] == 1);
}
