// Fills: odd sizes and addresses, memory of the host, rows of any pitch.
#include "tests/conformance/recorded.hpp"

#include <sys/mman.h>

namespace {

struct Place {
  const char* name;
  CUdeviceptr address;
};

std::string sum(CUdeviceptr p, std::size_t bytes) {
  std::vector<unsigned char> copy(bytes);
  const CUresult result = cuMemcpyDtoH(copy.data(), p, bytes);
  if (result != CUDA_SUCCESS) return cu::name(result);
  unsigned long long total = 0;
  for (const unsigned char byte : copy) total += byte;
  return std::to_string(total);
}

std::string hex(unsigned long long number) {
  std::ostringstream text;
  text << "0x" << std::hex << number;
  return text.str();
}

}  // namespace

RECORDED_CASE("A fill begins where its elements may", "[memory]") {
  conformance::context();
  CUdeviceptr p = 0;
  CU_CHECK(cuMemAlloc(&p, 4096));
  for (const unsigned offset : {0u, 1u, 2u, 3u, 4u, 6u, 8u}) {
    const std::string at = " at " + std::to_string(offset);
    SAY_AS("cuMemsetD8" + at, cuMemsetD8(p + offset, 1, 3));
    SAY_AS("cuMemsetD16" + at, cuMemsetD16(p + offset, 1, 3));
    SAY_AS("cuMemsetD32" + at, cuMemsetD32(p + offset, 1, 3));
    SAY_AS("cuMemsetD2D8" + at, cuMemsetD2D8(p + offset, 13, 1, 3, 3));
    SAY_AS("cuMemsetD2D16" + at, cuMemsetD2D16(p + offset, 16, 1, 3, 3));
    SAY_AS("cuMemsetD2D32" + at, cuMemsetD2D32(p + offset, 16, 1, 3, 3));
    SAY_AS("cuMemsetD16Async" + at, cuMemsetD16Async(p + offset, 1, 3, nullptr));
    SAY_AS("cuMemsetD32Async" + at, cuMemsetD32Async(p + offset, 1, 3, nullptr));
    SAY_AS("cuMemsetD2D16Async" + at, cuMemsetD2D16Async(p + offset, 16, 1, 3, 3, nullptr));
    SAY_AS("cuMemsetD16 of nothing" + at, cuMemsetD16(p + offset, 1, 0));
    SAY_AS("cuMemsetD32 of nothing" + at, cuMemsetD32(p + offset, 1, 0));
  }
}

RECORDED_CASE("Rows have a pitch that suits them", "[memory]") {
  conformance::context();
  CUdeviceptr p = 0;
  CU_CHECK(cuMemAlloc(&p, 4096));
  for (const std::size_t pitch : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 1024, 2048, 4096, 4097}) {
    for (const std::size_t height : {0, 1, 2, 3}) {
      const std::string of = " pitch " + std::to_string(pitch) + ", height " + std::to_string(height);
      SAY_AS("cuMemsetD2D8" + of, cuMemsetD2D8(p, pitch, 1, 6, height));
      SAY_AS("cuMemsetD2D16" + of, cuMemsetD2D16(p, pitch, 1, 3, height));
      SAY_AS("cuMemsetD2D32" + of, cuMemsetD2D32(p, pitch, 1, 2, height));
    }
  }
  SAY(cuMemsetD2D8(p, 100, 1, 0, 3));
  SAY(cuMemsetD2D8(0, 100, 1, 0, 3));
  SAY(cuMemsetD2D8(0, 100, 1, 3, 0));
  SAY(cuMemsetD2D8(0, 100, 1, 3, 3));
  SAY(cuMemsetD2D8(p, 64, 2, 64, 64));
  SAY(cuMemsetD2D8(p, 64, 2, 64, 65));
  SAY(cuMemsetD2D8(p, 65, 2, 64, 63));
  SAY(cuMemsetD2D8(p, 65, 2, 1, 64));
  SAY(cuMemsetD2D8(p, 65, 2, 2, 63));
  SAY(cuMemsetD2D8(p, 64, 2, 65, 2));
  SAY(cuCtxSynchronize());
  SHOW(sum(p, 4096));
}

RECORDED_CASE("Fills end within an allocation", "[memory]") {
  conformance::context();
  CUdeviceptr p = 0;
  CU_CHECK(cuMemAlloc(&p, 1000));
  SAY(cuMemsetD8(p, 1, 1000));
  SAY(cuMemsetD8(p, 1, 1001));
  SAY(cuMemsetD8(p, 1, 1024));
  SAY(cuMemsetD8(p, 1, 1025));
  SAY(cuMemsetD8(p + 999, 1, 1));
  SAY(cuMemsetD8(p + 1000, 1, 1));
  SAY(cuMemsetD8(p + 1000, 1, 0));
  SAY(cuMemsetD8(p - 1, 1, 1));
  SAY(cuMemsetD8(p - 1, 1, 0));
  SAY(cuMemsetD16(p, 1, 500));
  SAY(cuMemsetD16(p, 1, 501));
  SAY(cuMemsetD32(p, 1, 250));
  SAY(cuMemsetD32(p, 1, 251));
  SAY(cuMemsetD8Async(p, 1, 1001, nullptr));
  SAY(cuMemsetD8Async(p + 1000, 1, 1, nullptr));
  SAY(cuMemsetD8(0, 1, 0));
  SAY(cuMemsetD8(0, 1, 1));
  SAY(cuMemsetD8(1, 1, 1));
  SAY(cuMemsetD8(~CUdeviceptr{0}, 1, 1));
  SAY(cuMemsetD8(~CUdeviceptr{0}, 1, 2));
  SAY(cuMemsetD8Async(0, 1, 0, nullptr));
  SAY(cuMemsetD8Async(0, 1, 1, nullptr));
  CU_CHECK(cuMemFree(p));
  SAY(cuMemsetD8(p, 1, 1));
  SAY(cuMemsetD8(p, 1, 0));
  SAY(cuMemsetD8Async(p, 1, 1, nullptr));
}

RECORDED_CASE("Values are cut to their elements", "[memory]") {
  conformance::context();
  CUdeviceptr p = 0;
  unsigned words[4] = {};
  CU_CHECK(cuMemAlloc(&p, 64));
  SAY(cuMemsetD8(p, 0xab, 16));
  CU_CHECK(cuMemcpyDtoH(words, p, 16));
  SHOW(hex(words[0]));
  SAY(cuMemsetD16(p, 0x1234, 8));
  CU_CHECK(cuMemcpyDtoH(words, p, 16));
  SHOW(hex(words[1]));
  SAY(cuMemsetD32(p, 0xdeadbeef, 4));
  CU_CHECK(cuMemcpyDtoH(words, p, 16));
  SHOW(hex(words[3]));
  SAY(cuMemsetD2D16(p, 8, 0x5678, 2, 2));
  CU_CHECK(cuMemcpyDtoH(words, p, 16));
  SHOW(hex(words[0]) << " " << hex(words[1]) << " " << hex(words[2]));
}

RECORDED_CASE("Fills of memory of the host", "[memory]") {
  conformance::context();
  void *pinned = nullptr, *mapped = nullptr, *combined = nullptr;
  CUdeviceptr managed = 0, at = 0;
  static char plain[8192];
  char* const registered =
      static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::vector<char> heap(8192);
  CU_CHECK(cuMemAllocHost(&pinned, 1000));
  CU_CHECK(cuMemHostAlloc(&mapped, 1000, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
  CU_CHECK(cuMemHostAlloc(&combined, 1000, CU_MEMHOSTALLOC_WRITECOMBINED));
  CU_CHECK(cuMemHostRegister(registered, 4096, CU_MEMHOSTREGISTER_DEVICEMAP));
  CU_CHECK(cuMemAllocManaged(&managed, 1000, CU_MEM_ATTACH_GLOBAL));
  CU_CHECK(cuMemHostGetDevicePointer(&at, registered, 0));
  const auto address = [](void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); };
  const Place places[] = {
      {"pinned", address(pinned)},         {"mapped", address(mapped)},        {"write-combined", address(combined)},
      {"registered", address(registered)}, {"registered, for the device", at}, {"managed", managed},
      {"plain", address(plain)},           {"heap", address(heap.data())}};
  for (const Place& place : places) {
    const std::string in = std::string(", ") + place.name;
    SAY_AS("cuMemsetD8" + in, cuMemsetD8(place.address, 3, 100));
    SAY_AS("cuMemsetD8 of nothing" + in, cuMemsetD8(place.address, 3, 0));
    SAY_AS("cuMemsetD16" + in, cuMemsetD16(place.address, 3, 100));
    SAY_AS("cuMemsetD16 at 1" + in, cuMemsetD16(place.address + 1, 3, 100));
    SAY_AS("cuMemsetD32" + in, cuMemsetD32(place.address, 3, 100));
    SAY_AS("cuMemsetD2D8" + in, cuMemsetD2D8(place.address, 20, 3, 10, 10));
    SAY_AS("cuMemsetD8Async" + in, cuMemsetD8Async(place.address, 3, 100, nullptr));
    SAY_AS("cuMemsetD32Async" + in, cuMemsetD32Async(place.address, 3, 100, nullptr));
    SAY_AS("cuMemsetD2D32Async" + in, cuMemsetD2D32Async(place.address, 20, 3, 2, 10, nullptr));
    SAY_AS("cuMemsetD8 of 1000" + in, cuMemsetD8(place.address, 3, 1000));
    SAY_AS("cuMemsetD8 of 1001" + in, cuMemsetD8(place.address, 3, 1001));
    SAY_AS("cuMemsetD8 of 4096" + in, cuMemsetD8(place.address, 3, 4096));
    SAY_AS("cuMemsetD8 of 4097" + in, cuMemsetD8(place.address, 3, 4097));
    SAY_AS("cuMemsetD8Async of 4097" + in, cuMemsetD8Async(place.address, 3, 4097, nullptr));
    SAY_AS("wait" + in, cuCtxSynchronize());
  }
}

RECORDED_CASE("Fills that a graph holds are judged when the node is made", "[memory][graph]") {
  const auto F = conformance::context();
  CUdeviceptr p = 0, managed = 0;
  void* pinned = nullptr;
  static char plain[4096];
  CUgraph g = nullptr;
  CU_CHECK(cuMemAlloc(&p, 1000));
  CU_CHECK(cuMemAllocManaged(&managed, 1000, CU_MEM_ATTACH_GLOBAL));
  CU_CHECK(cuMemAllocHost(&pinned, 1000));
  CU_CHECK(cuGraphCreate(&g, 0));
  const auto add = [&](CUdeviceptr to, std::size_t pitch, unsigned value, unsigned element, std::size_t width,
                       std::size_t height) {
    const CUDA_MEMSET_NODE_PARAMS fill{to, pitch, value, element, width, height};
    CUgraphNode node = nullptr;
    return cuGraphAddMemsetNode(&node, g, nullptr, 0, &fill, F.ctx);
  };
  SAY(add(p, 0, 1, 1, 1000, 1));
  SAY(add(p, 0, 1, 1, 1001, 1));
  SAY(add(p, 0, 1, 1, 0, 1));
  SAY(add(p, 0, 1, 1, 1, 0));
  SAY(add(p, 0, 1, 0, 1, 1));
  SAY(add(p, 0, 1, 3, 1, 1));
  SAY(add(p, 0, 1, 8, 1, 1));
  SAY(add(p + 1, 0, 1, 2, 1, 1));
  SAY(add(p + 2, 0, 1, 4, 1, 1));
  SAY(add(p, 0, 0x100, 1, 1, 1));
  SAY(add(p, 0, 0x10000, 2, 1, 1));
  SAY(add(p, 0, 0xffffffff, 4, 1, 1));
  SAY(add(p, 8, 1, 1, 10, 2));
  SAY(add(p, 10, 1, 1, 10, 2));
  SAY(add(p, 9, 1, 2, 4, 2));
  SAY(add(p, 100, 1, 1, 10, 11));
  SAY(add(0, 0, 1, 1, 10, 1));
  SAY(add(1234, 0, 1, 1, 10, 1));
  SAY(add(managed, 0, 1, 1, 10, 1));
  SAY(add(reinterpret_cast<CUdeviceptr>(pinned), 0, 1, 1, 10, 1));
  SAY(add(reinterpret_cast<CUdeviceptr>(plain), 0, 1, 1, 10, 1));
  CUgraphNode node = nullptr;
  SAY(cuGraphAddMemsetNode(&node, g, nullptr, 0, nullptr, F.ctx));
  const CUDA_MEMSET_NODE_PARAMS fill{p, 0, 1, 1, 10, 1};
  SAY(cuGraphAddMemsetNode(&node, g, nullptr, 0, &fill, nullptr));
  SAY(cuGraphAddMemsetNode(nullptr, g, nullptr, 0, &fill, F.ctx));
}
