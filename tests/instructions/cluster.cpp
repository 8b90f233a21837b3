// Shared memory in a cluster, as observed on an H200 (driver 580): an address has its block's rank in bits 24 and up.
#include "tests/catch.hpp"
#include "tests/instructions/device.hpp"

#include <cstdint>

namespace {

using namespace instructions;

constexpr unsigned kBlocks = 4, kWords = 32;

// What each block of a grid of one cluster, 2 x 2, writes. The body finds its words at %out.
std::vector<std::uint32_t> answers(const std::string& body) {
  std::string log;
  const CUmodule module = load(header(Device::ptx_version(83), 90) +
                                   ".shared .align 16 .b8 first[256];\n.extern .shared .align 16 .b8 dynamic[];\n"
                                   ".func (.reg .b32 r) of_function() { mov.u32 r, first; ret; }\n"
                                   ".visible .entry k(.param .u64 out) .reqnctapercluster 2, 2\n{\n"
                                   ".shared .align 16 .b8 second[128];\n.reg .b32 %r<40>; .reg .b64 %d<40>; .reg .pred "
                                   "%p<8>; .reg .b64 %out;\nld.param.u64 %out, [out];\n"
                                   "mov.u32 %r39, %cluster_ctarank; mul.wide.u32 %d39, %r39, 128;\n"
                                   "add.u64 %out, %out, %d39;\n" +
                                   body + "\nbarrier.cluster.arrive; barrier.cluster.wait;\nret;\n}\n",
                               log);
  REQUIRE(log == "");
  CUfunction function = nullptr;
  CU_CHECK(cuModuleGetFunction(&function, module, "k"));
  CUdeviceptr out = 0;
  CU_CHECK(cuMemAlloc(&out, kBlocks * kWords * 4));
  CU_CHECK(cuMemsetD32(out, 0xeeeeeeee, kBlocks * kWords));
  void* parameters[] = {&out};
  CU_CHECK(cuLaunchKernel(function, 2, 2, 1, 1, 1, 1, 64, nullptr, parameters, nullptr));
  std::vector<std::uint32_t> got(kBlocks * kWords);
  CU_CHECK(cuMemcpyDtoH(got.data(), out, got.size() * 4));
  CU_CHECK(cuMemFree(out));
  CU_CHECK(cuModuleUnload(module));
  return got;
}

std::string to(unsigned word, const std::string& reg) {
  return "st.global.b32 [%out+" + std::to_string(4 * word) + "], " + reg + ";\n";
}

constexpr std::uint32_t kOffset = 0xffffff;

}  // namespace

TEST_CASE("in a cluster, a shared address has its block's rank in bits 24 and up") {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("clusters need compute capability 9.0");
  const auto got =
      answers("mov.u32 %r0, first;\n" + to(0, "%r0") + "mov.u32 %r1, second;\n" + to(1, "%r1") +
              "mov.u32 %r2, dynamic;\n" + to(2, "%r2") + "mov.u64 %d0, first; cvt.u32.u64 %r3, %d0;\n" + to(3, "%r3") +
              "cvta.shared.u64 %d1, %d0; cvta.to.shared.u64 %d2, %d1; cvt.u32.u64 %r3, %d2;\n" + to(4, "%r3") +
              "call (%r3), of_function;\n" + to(5, "%r3") + "mapa.shared::cluster.u32 %r3, %r0, 2;\n" + to(6, "%r3") +
              "mapa.u64 %d3, %d1, 3; cvta.to.shared.u64 %d3, %d3; cvt.u32.u64 %r3, %d3;\n" + to(7, "%r3") +
              "getctarank.shared::cluster.u32 %r3, %r0;\n" + to(8, "%r3") + "getctarank.u64 %r3, %d1;\n" +
              to(9, "%r3") + "and.b32 %r4, %r0, 0xffffff; getctarank.shared::cluster.u32 %r3, %r4;\n" + to(10, "%r3") +
              "mapa.u64 %d4, %d1, 1; isspacep.shared::cta %p0, %d4; selp.u32 %r3, 1, 0, %p0;\n" + to(11, "%r3") +
              "isspacep.shared::cluster %p0, %d4; selp.u32 %r3, 1, 0, %p0;\n" + to(12, "%r3") +
              "isspacep.shared::cta %p0, %d1; selp.u32 %r3, 1, 0, %p0;\n" + to(13, "%r3") +
              "mapa.shared::cluster.u32 %r3, second, 2;\n" + to(14, "%r3") +
              "mapa.shared::cluster.u64 %d4, first+12, %r39; cvt.u32.u64 %r3, %d4;\n" + to(15, "%r3") +
              "getctarank.shared::cluster.u32 %r3, first;\n" + to(16, "%r3") +
              "getctarank.shared::cluster.u64 %r3, second+4;\n" + to(17, "%r3"));
  const std::uint32_t first = got[0] & kOffset, second = got[1] & kOffset, dynamic = got[2] & kOffset;
  // In which order the two stand, no manual says; the launch's own comes behind both.
  CHECK((second >= first + 256 || first >= second + 128));
  CHECK(dynamic == std::max(first + 256, second + 128));
  for (std::uint32_t rank = 0; rank < kBlocks; ++rank) {
    CAPTURE(rank);
    const std::uint32_t* g = &got[rank * kWords];
    const std::uint32_t own = rank << 24;
    CHECK(g[0] == own + first);
    CHECK(g[1] == own + second);
    CHECK(g[2] == own + dynamic);
    CHECK(g[3] == g[0]);
    CHECK(g[4] == g[0]);
    CHECK(g[5] == g[0]);
    CHECK(g[6] == (2u << 24) + first);
    CHECK(g[7] == (3u << 24) + first);
    CHECK(g[8] == rank);
    CHECK(g[9] == rank);
    CHECK(g[10] == 0);
    CHECK(g[11] == (rank == 1 ? 1 : 0));
    CHECK(g[12] == 1);
    CHECK(g[13] == 1);
    CHECK(g[14] == (2u << 24) + second);
    CHECK(g[15] == own + first + 12);
    CHECK(g[16] == rank);
    CHECK(g[17] == rank);
  }
}

TEST_CASE("in a cluster, each way of naming shared memory reaches whose it is") {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("clusters need compute capability 9.0");
  const auto got = answers(
      "add.u32 %r0, %r39, 100; st.shared.u32 [first], %r0; mov.u32 %r1, first; mov.u64 %d0, first;\n"
      "cvta.shared.u64 %d1, %d0; barrier.cluster.arrive; barrier.cluster.wait;\n"
      "ld.shared.u32 %r2, [first];\n" +
      to(0, "%r2") + "ld.shared.u32 %r2, [%r1];\n" + to(1, "%r2") + "ld.shared.u32 %r2, [%d0];\n" + to(2, "%r2") +
      "ld.shared::cluster.u32 %r2, [first];\n" + to(3, "%r2") + "ld.shared::cluster.u32 %r2, [%r1];\n" + to(4, "%r2") +
      "ld.u32 %r2, [%d1];\n" + to(5, "%r2") + "ld.u32 %r2, [first];\n" + to(6, "%r2") +
      "atom.shared.add.u32 %r2, [first], 0;\n" + to(7, "%r2") + "atom.add.u32 %r2, [%d1], 0;\n" + to(8, "%r2") +
      // Without a rank: the first block's; with another bit: the neighbour's.
      "and.b32 %r3, %r1, 0xffffff; ld.shared::cluster.u32 %r2, [%r3];\n" + to(9, "%r2") +
      "xor.b32 %r3, %r1, 0x1000000; ld.shared::cluster.u32 %r2, [%r3];\n" + to(10, "%r2") +
      "mapa.u64 %d2, %d1, 3; ld.u32 %r2, [%d2];\n" + to(11, "%r2") + "atom.shared::cluster.add.u32 %r2, [%r3], 0;\n" +
      to(12, "%r2"));
  for (std::uint32_t rank = 0; rank < kBlocks; ++rank) {
    CAPTURE(rank);
    const std::uint32_t* g = &got[rank * kWords];
    for (unsigned k = 0; k <= 8; ++k) {
      CAPTURE(k);
      CHECK(g[k] == 100 + rank);
    }
    CHECK(g[9] == 100);
    CHECK(g[10] == 100 + (rank ^ 1));
    CHECK(g[11] == 103);
    CHECK(g[12] == 100 + (rank ^ 1));
  }
}
