// Linear memory: sizes, bounds, double frees, copies and fills, and who owns it.
#include "tests/conformance/scenario.hpp"

#include <algorithm>

FRESH_CASE("Sizes, bounds and frees are checked exactly", "[memory][alone]") {
  conformance::context();
  CUdeviceptr p = 0, q = 0, b = 0, big = 0;
  std::size_t s = 0, t = 0, f0 = 0, f1 = 0;
  static char h[4096];

  ANSWERS(cuMemAlloc(&p, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemAlloc(nullptr, 4), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemAlloc(&p, 1ull << 50), CUDA_ERROR_OUT_OF_MEMORY);
  ANSWERS(cuMemAlloc(&p, 100), CUDA_SUCCESS);
  SHOWS("align 0", "align " << p % 256);
  ANSWERS(cuMemFree(p + 4), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemFree(p), CUDA_SUCCESS);
  ANSWERS(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemFree(0), CUDA_SUCCESS);
  ANSWERS(cuMemFree(0x1234), CUDA_ERROR_INVALID_VALUE);

  ANSWERS(cuMemAlloc(&p, 1000), CUDA_SUCCESS);
  ANSWERS(cuMemGetAddressRange(&b, &s, p + 10), CUDA_SUCCESS);
  SHOWS("base 1 size 1000", "base " << (b == p) << " size " << s);
  ANSWERS(cuMemGetAddressRange(&b, &s, 0x10), CUDA_ERROR_NOT_FOUND);

  ANSWERS(cuMemcpyHtoD(p, h, 1000), CUDA_SUCCESS);
  ANSWERS(cuMemcpyHtoD(p, h, 1001), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemcpyHtoD(p, h, 4096), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemcpyDtoH(h, p, 2000), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemcpyHtoD(0, h, 4), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemcpyHtoD(0, h, 0), CUDA_SUCCESS);
  ANSWERS(cuMemcpyHtoD(p, nullptr, 4), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemcpyDtoD(p, p + 500, 500), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoD(p, p + 10, 500), CUDA_SUCCESS);

  ANSWERS(cuMemsetD8(p, 1, 1000), CUDA_SUCCESS);
  ANSWERS(cuMemsetD8(p, 1, 1001), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemsetD32(p + 1, 1, 10), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemsetD16(p + 1, 1, 10), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemsetD32(p, 1, 250), CUDA_SUCCESS);
  ANSWERS(cuMemsetD32(p, 1, 0), CUDA_SUCCESS);
  ANSWERS(cuMemcpy((CUdeviceptr)h, p, 10), CUDA_SUCCESS);

  ANSWERS(cuMemAlloc(&q, 1 << 20), CUDA_SUCCESS);
  ANSWERS(cuMemcpyHtoD(q + (1 << 20) - 4, h, 8), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemGetInfo(&f0, &t), CUDA_SUCCESS);
  ANSWERS(cuMemAlloc(&big, 64 << 20), CUDA_SUCCESS);
  ANSWERS(cuMemGetInfo(&f1, &t), CUDA_SUCCESS);
  SHOWS("delta 67108864", "delta " << f0 - f1);
}

FRESH_CASE("Freed memory is refused, and the context lives on", "[memory]") {
  conformance::context();
  CUdeviceptr p = 0;
  char h[16] = {};
  CU_CHECK(cuMemAlloc(&p, 1000));
  CU_CHECK(cuMemFree(p));
  ANSWERS(cuMemcpyHtoD(p, h, 16), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemcpyDtoH(h, p, 16), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemsetD8(p, 0, 16), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
}

FRESH_CASE("A context owns its memory, and its end takes the memory along", "[memory]") {
  const CUdevice dev = conformance::device().dev;
  CUcontext a = nullptr, b = nullptr, x = nullptr;
  CUdeviceptr p = 0;
  char h[16] = {};
  CU_CHECK(cuCtxCreate(&a, nullptr, 0, dev));
  CU_CHECK(cuMemAlloc(&p, 1000));
  CU_CHECK(cuCtxCreate(&b, nullptr, 0, dev));
  ANSWERS(cuMemcpyDtoH(h, p, 16), CUDA_SUCCESS);  // with the other context current
  ANSWERS(cuMemFree(p), CUDA_SUCCESS);
  ANSWERS(cuCtxPopCurrent(&x), CUDA_SUCCESS);
  CU_CHECK(cuMemAlloc(&p, 1000));
  ANSWERS(cuCtxDestroy(a), CUDA_SUCCESS);
  ANSWERS(cuCtxPushCurrent(b), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoH(h, p, 16), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
}

FRESH_CASE("Copies and fills move exactly the bytes they name", "[memory]") {
  conformance::context();
  CUdeviceptr a = 0, b = 0;
  CU_CHECK(cuMemAlloc(&a, 4096));
  CU_CHECK(cuMemAlloc(&b, 4096));
  std::vector<unsigned char> in(4096), out(4096);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned char>(i * 7);
  CU_CHECK(cuMemcpyHtoD(a, in.data(), in.size()));
  CU_CHECK(cuMemcpyDtoD(b, a, in.size()));
  CU_CHECK(cuMemcpyDtoH(out.data(), b, out.size()));
  CHECK(in == out);

  CU_CHECK(cuMemsetD8(b, 0x5a, 10));
  CU_CHECK(cuMemsetD16(b + 10, 0x1234, 3));
  CU_CHECK(cuMemsetD32(b + 16, 0x89abcdef, 2));
  CU_CHECK(cuMemcpy((CUdeviceptr)out.data(), b, 32));
  const unsigned char expected[24] = {0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x34, 0x12,
                                      0x34, 0x12, 0x34, 0x12, 0xef, 0xcd, 0xab, 0x89, 0xef, 0xcd, 0xab, 0x89};
  CHECK(std::memcmp(out.data(), expected, sizeof expected) == 0);
  CHECK(out[24] == in[24]);
}

FRESH_CASE("Asynchronous copies and fills keep the order of their stream", "[memory]") {
  conformance::context();
  CUstream s = nullptr;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  constexpr std::size_t n = 2 << 20;
  CUdeviceptr a = 0, b = 0;
  unsigned* pinned = nullptr;
  CU_CHECK(cuMemAlloc(&a, n));
  CU_CHECK(cuMemAlloc(&b, n));
  CU_CHECK(cuMemAllocHost(reinterpret_cast<void**>(&pinned), n));
  ANSWERS(cuMemsetD32Async(a, 7, n / 4, s), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoDAsync(b, a, n, s), CUDA_SUCCESS);
  ANSWERS(cuMemsetD32Async(a, 8, n / 4, s), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoHAsync(pinned, b, n, s), CUDA_SUCCESS);
  ANSWERS(cuStreamSynchronize(s), CUDA_SUCCESS);
  CHECK(pinned[0] == 7);
  CHECK(pinned[n / 4 - 1] == 7);

  std::vector<unsigned> pageable(n / 4, 9);
  ANSWERS(cuMemcpyHtoDAsync(a, pageable.data(), n, s), CUDA_SUCCESS);
  std::fill(pageable.begin(), pageable.end(), 0);  // staged already: the copy does not see this
  ANSWERS(cuMemcpyDtoHAsync(pageable.data(), a, n, s), CUDA_SUCCESS);
  CHECK(pageable[0] == 9);  // complete on return
  CHECK(pageable[n / 4 - 1] == 9);
  ANSWERS(cuMemcpyHtoDAsync(a + 4, pinned, n, s), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemsetD32Async(a + 2, 0, 1, s), CUDA_ERROR_INVALID_VALUE);
}

FRESH_CASE("A device without free memory reports that, and works on", "[memory][alone]") {
  conformance::context();
  std::size_t free_bytes = 0, total = 0, after = 0;
  CU_CHECK(cuMemGetInfo(&free_bytes, &total));
  CUdeviceptr p = 0, q = 0;
  ANSWERS(cuMemAlloc(&p, free_bytes + (std::size_t{1} << 30)), CUDA_ERROR_OUT_OF_MEMORY);
  ANSWERS(cuMemAlloc(&q, 1 << 20), CUDA_SUCCESS);
  ANSWERS(cuMemFree(q), CUDA_SUCCESS);
  CU_CHECK(cuMemGetInfo(&after, &total));
  CHECK(after == free_bytes);
}

FRESH_CASE("The simulated device has as much memory as CUDASIM_MEMORY says", "[memory]", {"CUDASIM_MEMORY", "64M"}) {
  conformance::context();
  if (!conformance::on_simulator()) SKIP_TEST("it is about the simulator");
  std::size_t available = 0, total = 0;
  CU_CHECK(cuMemGetInfo(&available, &total));
  CHECK(total == 64 << 20);
  CUdeviceptr p = 0, q = 0;
  ANSWERS(cuMemAlloc(&p, 48 << 20), CUDA_SUCCESS);
  ANSWERS(cuMemAlloc(&q, 48 << 20), CUDA_ERROR_OUT_OF_MEMORY);
  ANSWERS(cuMemFree(p), CUDA_SUCCESS);
  ANSWERS(cuMemAllocAsync(&p, 48 << 20, 0), CUDA_SUCCESS);
  ANSWERS(cuMemFreeAsync(p, 0), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);  // gives back what the pool's threshold does not keep
  ANSWERS(cuMemAlloc(&q, 48 << 20), CUDA_SUCCESS);
}

#if CUDA_VERSION >= 13000
FRESH_CASE("A batch of copies runs in a stream", "[memory]") {
  conformance::context();
  CUstream s = nullptr;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CUdeviceptr a = 0, b = 0;
  int* h = nullptr;
  CU_CHECK(cuMemAlloc(&a, 4096));
  CU_CHECK(cuMemAlloc(&b, 4096));
  CU_CHECK(cuMemAllocHost(reinterpret_cast<void**>(&h), 4096));
  h[0] = 11;
  h[1] = 22;
  CUmemcpyAttributes order = {};
  order.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  std::size_t first = 0;
  CUdeviceptr to[] = {a, b}, from[] = {(CUdeviceptr)h, (CUdeviceptr)(h + 1)};
  std::size_t sizes[] = {4, 4};
  ANSWERS(cuMemcpyBatchAsync(to, from, sizes, 2, &order, &first, 1, s), CUDA_SUCCESS);
  ANSWERS(cuStreamSynchronize(s), CUDA_SUCCESS);
  int got[2] = {};
  CU_CHECK(cuMemcpyDtoH(&got[0], a, 4));
  CU_CHECK(cuMemcpyDtoH(&got[1], b, 4));
  CHECK(got[0] == 11);
  CHECK(got[1] == 22);
  ANSWERS(cuMemcpyBatchAsync(to, from, sizes, 2, &order, &first, 0, s), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuMemcpyBatchAsync(to, from, sizes, 2, &order, &first, 1, 0), CUDA_ERROR_INVALID_VALUE);
}
#endif

// Taichi's runtime divides up what it asks for as if it began with a page.
FRESH_CASE("What is big begins where a page does", "[memory]") {
  conformance::context();
  for (const std::size_t size : {std::size_t{3} << 20, std::size_t{174104576}}) {
    CUdeviceptr p = 0;
    ANSWERS(cuMemAlloc(&p, size), CUDA_SUCCESS);
    CHECK(p % 4096 == 0);
  }
}

FRESH_CASE("A device's address is known for one under whatever name it comes", "[memory]") {
  const auto made = conformance::context();
  CUdeviceptr p = 0;
  char host[256] = {};
  CU_CHECK(cuMemAlloc(&p, 1 << 16));
  ANSWERS(cuMemcpyPeer(p, nullptr, p + 4096, made.ctx, 64), CUDA_SUCCESS);
  ANSWERS(cuMemcpyHtoD(p, reinterpret_cast<void*>(p), 16), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoH(reinterpret_cast<void*>(p), p, 16), CUDA_SUCCESS);
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = CU_MEMORYTYPE_HOST;
  box.srcHost = host;
  box.srcPitch = box.dstPitch = 16;
  box.srcHeight = box.dstHeight = 2;
  box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.dstDevice = p;
  box.WidthInBytes = 16;
  box.Height = box.Depth = 2;
  box.srcLOD = 1;  // of arrays only
  ANSWERS(cuMemcpy3D(&box), CUDA_SUCCESS);
}
