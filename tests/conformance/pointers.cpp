// What the driver knows about a pointer.
#include "tests/conformance/scenario.hpp"

FRESH_CASE("A pointer's kind, owner and range are known; of a plain host pointer nothing is", "[pointer]") {
  const conformance::Context made = conformance::context();
  CUdeviceptr p = 0, b = 0;
  void* h = nullptr;
  CU_CHECK(cuMemAlloc(&p, 4096));
  CU_CHECK(cuMemAllocHost(&h, 4096));
  CUmemorytype mt{};
  CUcontext c = nullptr;
  int o = -1, x = 0;
  unsigned m = 9;
  std::size_t s = 0;

  ANSWERS(cuPointerGetAttribute(&mt, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p), CUDA_SUCCESS);
  SHOWS("mt 2", "mt " << mt);
  ANSWERS(cuPointerGetAttribute(&mt, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)h), CUDA_SUCCESS);
  SHOWS("mt 1", "mt " << mt);
  ANSWERS(cuPointerGetAttribute(&mt, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)&x), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuPointerGetAttribute(&c, CU_POINTER_ATTRIBUTE_CONTEXT, p), CUDA_SUCCESS);
  SHOWS("ctx 1", "ctx " << (c == made.ctx));
  ANSWERS(cuPointerGetAttribute(&o, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p), CUDA_SUCCESS);
  CHECK(o == 0);
  ANSWERS(cuPointerGetAttribute(&b, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p + 7), CUDA_SUCCESS);
  SHOWS("1", (b == p));
  ANSWERS(cuPointerGetAttribute(&s, CU_POINTER_ATTRIBUTE_RANGE_SIZE, p + 7), CUDA_SUCCESS);
  SHOWS("4096", s);
  ANSWERS(cuPointerGetAttribute(&m, CU_POINTER_ATTRIBUTE_IS_MANAGED, p), CUDA_SUCCESS);
  SHOWS("managed 0", "managed " << m);
  ANSWERS(cuPointerGetAttribute(&m, (CUpointer_attribute)999, p), CUDA_ERROR_INVALID_VALUE);
}

FRESH_CASE("Several attributes are asked at once, and those that do not apply are null", "[pointer]") {
  conformance::context();
  CUdeviceptr p = 0, d = 1;
  CU_CHECK(cuMemAlloc(&p, 4096));
  CUmemorytype mt{};
  void* host = &d;
  int x = 0;
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                 CU_POINTER_ATTRIBUTE_HOST_POINTER};
  void* data[] = {&mt, &d, &host};
  ANSWERS(cuPointerGetAttributes(3, which, data, p), CUDA_SUCCESS);
  CHECK(mt == CU_MEMORYTYPE_DEVICE);
  CHECK(d == p);
  CHECK(host == nullptr);
  ANSWERS(cuPointerGetAttributes(3, which, data, (CUdeviceptr)&x), CUDA_SUCCESS);
  CHECK(static_cast<int>(mt) == 0);
  CHECK(d == 0);
  std::size_t size = 77;
  CUdeviceptr begin = 77;
  CUpointer_attribute range[] = {CU_POINTER_ATTRIBUTE_RANGE_SIZE, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR};
  void* of_range[] = {&size, &begin};
  ANSWERS(cuPointerGetAttributes(2, range, of_range, (CUdeviceptr)&x), CUDA_SUCCESS);
  SHOWS("77 77", size << " " << begin);
  host = &x;
  ANSWERS(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, p), CUDA_ERROR_INVALID_VALUE);
  CHECK(host == nullptr);
}

FRESH_CASE("Only managed memory is synchronous by itself", "[pointer]") {
  conformance::context();
  CUdeviceptr plain = 0, managed = 0, pooled = 0;
  CU_CHECK(cuMemAlloc(&plain, 4096));
  CU_CHECK(cuMemAllocManaged(&managed, 65536, CU_MEM_ATTACH_GLOBAL));
  CU_CHECK(cuMemAllocAsync(&pooled, 4096, nullptr));
  const auto synchronous = [](CUdeviceptr p) {
    unsigned flag = 7;
    ANSWERS(cuPointerGetAttribute(&flag, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p), CUDA_SUCCESS);
    return flag;
  };
  CHECK(synchronous(plain) == 0);
  CHECK(synchronous(managed) == 1);
  CHECK(synchronous(pooled) == 0);
}
