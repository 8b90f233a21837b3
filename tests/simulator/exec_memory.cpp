// Loads and stores of every width and space, atomic operations, and the reports of bad addresses.
#include "tests/simulator/exec_kernel.hpp"

using namespace cudasim;
using namespace cudasim::testing;

namespace {

std::vector<u32> results(const std::string& body, u32 threads, const std::string& before = "") {
  Module module(kernel(body, before));
  Buffer<u32> out(threads * 4);
  for (u32 i = 0; i < threads * 4; ++i) out[i] = 0x80818283u + i * 0x01010101u;
  const auto fault = module.run("k", {1, 1, 1}, {threads, 1, 1}, out.address());
  if (fault) UNSCOPED_INFO(fault->report);
  REQUIRE(!fault.has_value());
  return out.all();
}

Fault fault_of(const std::string& body, u32 threads, u64 out, const std::string& before = "") {
  Module module(kernel(body, before));
  const auto fault = module.run("k", {1, 1, 1}, {threads, 1, 1}, out);
  REQUIRE(fault.has_value());
  return *fault;
}

std::string hex(u64 value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

TEST_CASE("Loads extend by the type's sign into wider registers, stores take the low bits") {
  for (const u32 threads : {32u, 7u}) {
    const auto values = results(R"(
      ld.global.s8 %r1, [%slot];
      ld.global.u8 %r2, [%slot+1];
      ld.global.s16 %r3, [%slot];
      ld.global.u16 %r4, [%slot+2];
      ld.global.s32 %a1, [%slot];
      shr.u64 %a1, %a1, 32;
      cvt.u32.u64 %r5, %a1;
      add.u32 %r6, %r1, %r2;
      add.u32 %r6, %r6, %r3;
      add.u32 %r6, %r6, %r4;
      add.u32 %r6, %r6, %r5;
      st.global.u32 [%slot], %r6;)",
                                threads);
    for (u32 i = 0; i < threads; ++i) {
      const u32 v = 0x80818283u + i * 0x01010101u;
      const u32 expected = u32(i32(i8(v))) + u8(v >> 8) + u32(i32(i16(v))) + u16(v >> 16) + u32(i64(i32(v)) >> 32);
      CHECK(values[i] == expected);
    }
  }
}

TEST_CASE("Vectors of two and four elements keep their order") {
  for (const u32 threads : {32u, 5u}) {
    const auto values = results(R"(
      mad.wide.u32 %slot, %t, 16, %out;
      ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%slot];
      st.global.v2.u32 [%slot], {%r4, %r3};
      st.global.v2.u32 [%slot+8], {%r2, %r1};)",
                                threads);
    for (u32 i = 0; i < threads * 4; ++i) {
      const u32 from = i / 4 * 4 + 3 - i % 4;
      CHECK(values[i] == 0x80818283u + from * 0x01010101u);
    }
  }
}

TEST_CASE("Lanes may all read one address, or any") {
  const auto values = results(R"(
    ld.global.u32 %r1, [%out+8];
    xor.b32 %r2, %t, 13;
    mad.wide.u32 %a1, %r2, 4, %out;
    ld.global.u32 %r3, [%a1];
    bar.sync 0;
    sub.u32 %r3, %r3, %r1;
    st.global.u32 [%slot], %r3;)",
                              32);
  for (u32 i = 0; i < 32; ++i) CHECK(values[i] == ((i ^ 13) - 2) * 0x01010101u);
}

TEST_CASE("Shared memory is the block's own, static and dynamic") {
  Module module(kernel(R"(
    mul.lo.u32 %r1, %t, 4;
    mov.u32 %r2, fixed;
    add.u32 %r2, %r2, %r1;
    mov.u32 %r3, %ctaid.x;
    mad.lo.u32 %r4, %r3, 100, %t;
    st.shared.u32 [%r2], %r4;
    mov.u32 %r5, more;
    add.u32 %r5, %r5, %r1;
    st.shared.u32 [%r5], %t;
    bar.sync 0;
    xor.b32 %r1, %r1, 124;
    mov.u32 %r2, fixed;
    add.u32 %r2, %r2, %r1;
    ld.shared.u32 %r6, [%r2];
    ld.shared.u32 %r7, [more+20];
    mad.lo.u32 %r6, %r7, 1000, %r6;
    mad.lo.u32 %r8, %r3, 32, %t;
    mad.wide.u32 %slot, %r8, 4, %out;
    st.global.u32 [%slot], %r6;)",
                       ".shared .align 4 .b8 fixed[128];\n.extern .shared .align 16 .b8 more[];\n"));
  Buffer<u32> out(96);
  Launch launch = module.launch("k", {3, 1, 1}, {32, 1, 1}, out.address());
  launch.dynamic_shared = 128;
  REQUIRE(!run(launch));
  for (u32 i = 0; i < 96; ++i) CHECK(out[i] == i / 32 * 100 + (31 - i % 32) + 5000);
}

TEST_CASE("Generic addresses reach shared, local and global memory") {
  const auto values = results(R"(
    .local .align 4 .b8 mine[16];
    mov.u64 %a1, mine;
    cvta.local.u64 %a1, %a1;
    st.u32 [%a1+4], %t;
    ld.local.u32 %r1, [mine+4];
    mov.u64 %a2, box;
    cvta.shared.u64 %a2, %a2;
    mad.wide.u32 %a3, %t, 4, %a2;
    st.u32 [%a3], %r1;
    ld.shared.u32 %r2, [box+12];
    isspacep.shared %p1, %a3;
    isspacep.local %p2, %a1;
    isspacep.global %p3, %out;
    selp.u32 %r3, 100, 0, %p1;
    @%p2 add.u32 %r3, %r3, 1000;
    @%p3 add.u32 %r3, %r3, 10000;
    cvta.to.shared.u64 %a4, %a3;
    ld.shared.u32 %r4, [%a4];
    add.u32 %r4, %r4, %r3;
    mad.lo.u32 %r4, %r2, 100000, %r4;
    st.u32 [%slot], %r4;)",
                              32, ".shared .align 4 .b8 box[128];\n");
  for (u32 i = 0; i < 32; ++i) CHECK(values[i] == 311100 + i);
}

TEST_CASE("A store one element past the end is reported with the allocation, the thread and the kernel") {
  Buffer<u32> out(100);
  const Fault fault = fault_of("st.global.u32 [%slot], %t;", 128, out.address());
  CHECK(fault.kind == FaultKind::illegal_address);
  CHECK(fault.thread.x == 100);
  CHECK(fault.address == out.address() + 400);
  CHECK(fault.what == "write of 4 bytes");
  CHECK(fault.where == "just past the end of the allocation of 400 bytes at " + hex(out.address()) + " (cuMemAlloc)");
  CHECK(fault.report ==
        "========= simulated GPU: illegal address\n"
        "  kernel   k\n"
        "  at       line 13 of the PTX (nvcc's -lineinfo adds the line of the source)\n"
        "  thread   (100,0,0) of block (0,0,0)\n"
        "  access   write of 4 bytes at " +
            hex(fault.address) +
            " (global)\n"
            "  which is just past the end of the allocation of 400 bytes at " +
            hex(out.address()) +
            " (cuMemAlloc)\n"
            "  but      on a GPU that memory is mapped; CUDASIM_BOUNDS=hardware permits such accesses\n");
}

TEST_CASE("A fault in an inlined function names its own line first, and then the line that calls it") {
  Buffer<u32> out(100);
  const std::string files =
      ".file 1 \"/src/kernels.cu\"\n.file 2 \"/src/helper.cuh\"\n.section .debug_str { L0: .b8 97, 0 }\n";
  const auto at = [&](const std::string& line) {
    const std::string text = fault_of(line + "\n st.global.u32 [%out+400], %t;", 1, out.address(), files).report;
    const std::size_t row = text.find("  at       ");
    return text.substr(row, text.find(" of the PTX", row) - row);
  };
  CHECK(at(".loc 1 7 3").find("at       kernels.cu:7 (line ") == 2);
  CHECK(at(".loc 2 40 1, function_name L0, inlined_at 1 7 3").find("helper.cuh:40 (called from kernels.cu:7; line ") ==
        11);
  CHECK(at(".loc 1 3 1, function_name L0, inlined_at 1 7 3").find("kernels.cu:3 (called from kernels.cu:7; line ") ==
        11);
}

TEST_CASE("An index that is off by more is measured, on both sides") {
  Buffer<u32> out(100);
  CHECK(fault_of("ld.global.u32 %r1, [%out+408];", 1, out.address())
            .where.find("8 bytes past the end of the allocation") == 0);
  CHECK(fault_of("ld.global.u32 %r1, [%out+-12];", 1, out.address()).where.find("12 bytes before the allocation") == 0);
  CHECK(fault_of("ld.global.u64 %a1, [%out+396];", 1, out.address()).kind == FaultKind::misaligned_address);
  CHECK(fault_of("mov.u64 %a1, 0; ld.global.u32 %r1, [%a1];", 1, out.address()).where == "a null pointer");
}

TEST_CASE("Memory that has been freed is named, with the call that freed it") {
  Buffer<u32> out(100);
  const u64 address = out.address();
  out.free();
  CHECK(fault_of("ld.global.u32 %r1, [%out+8];", 1, address).where ==
        "8 bytes into the freed allocation of 400 bytes at " + hex(address) + " (cuMemAlloc, freed by cuMemFree)");
}

TEST_CASE("A misaligned access is a fault of its own") {
  Buffer<u32> out(100);
  const Fault fault = fault_of("ld.global.u32 %r1, [%out+2];", 1, out.address());
  CHECK(fault.kind == FaultKind::misaligned_address);
  CHECK(fault.where.find("not a multiple of 4; 2 bytes into the allocation") == 0);
  CHECK(fault_of("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%out+8];", 1, out.address()).kind ==
        FaultKind::misaligned_address);
}

TEST_CASE("Shared and local memory are checked, too") {
  Buffer<u32> out(100);
  const std::string box = ".shared .align 4 .b8 box[64];\n";
  CHECK(fault_of("mov.u32 %r2, box; mad.lo.u32 %r1, %t, 4, %r2; st.shared.u32 [%r1], %t;", 32, out.address(), box)
            .where == "just past the end of the block's 64 bytes of shared memory");
  CHECK(fault_of("st.shared.u32 [box+100], %t;", 32, out.address(), box).where ==
        "36 bytes past the end of the block's 64 bytes of shared memory");
  CHECK(
      fault_of(".local .align 4 .b8 mine[16]; mov.u64 %a1, mine; st.local.u32 [%a1+16], %t;", 1, out.address()).where ==
      "just past the end of the 16 bytes of local memory that the thread uses now");
}

TEST_CASE("An index below 0 is distinguished from one too large, in every space and through generic addresses") {
  Buffer<u32> out(100);
  const std::string box = ".shared .align 4 .b8 box[64];\n";
  const std::string mine = ".local .align 4 .b8 mine[16]; mov.u64 %a1, mine; ";
  const auto where = [&](const std::string& body, const std::string& variables = "") {
    return fault_of(body, 1, out.address(), variables).where;
  };
  const std::string shared = "4 bytes before the beginning of the block's 64 bytes of shared memory";
  CHECK(where("mov.u32 %r1, box; st.shared.u32 [%r1+-4], %t;", box) == shared);
  CHECK(where("mov.u64 %a1, box; st.shared.u32 [%a1+-4], %t;", box) == shared);
  CHECK(where("mov.u64 %a1, box; cvta.shared.u64 %a1, %a1; st.u32 [%a1+-4], %t;", box) == shared);
  const std::string local = "8 bytes before the beginning of the 16 bytes of local memory that the thread uses now";
  CHECK(where(mine + "st.local.u32 [%a1+-8], %t;") == local);
  CHECK(where(mine + "cvta.local.u64 %a1, %a1; st.u32 [%a1+-8], %t;") == local);
  CHECK(where("mov.u64 %a1, 0; st.global.u32 [%a1+-4], %t;") == "4 bytes before a null pointer");
  CHECK(where("mov.u32 %r1, box; mapa.shared::cluster.u32 %r1, %r1, 7; ld.shared::cluster.u32 %r1, [%r1];", box) ==
        "in the shared memory of a block that the cluster does not have");
}

TEST_CASE("Constant memory may be read and not be written") {
  const std::string table = ".const .align 4 .u32 table[4] = {5, 6, 7, 8};\n";
  const auto values = results(
      "and.b32 %r1, %t, 3; mov.u64 %a1, table; mad.wide.u32 %a1, %r1, 4, %a1;"
      "ld.const.u32 %r2, [%a1]; ld.const.u32 %r3, [table+12]; add.u32 %r2, %r2, %r3;"
      "st.global.u32 [%slot], %r2;",
      32, table);
  for (u32 i = 0; i < 32; ++i) CHECK(values[i] == 13 + i % 4);
  Buffer<u32> out(32);
  CHECK(fault_of("mov.u64 %a1, table; cvta.const.u64 %a1, %a1; st.u32 [%a1], %t;", 1, out.address(), table)
            .where.find("0 bytes into the variable 'table' of 16 bytes") == 0);
}

TEST_CASE("Nobody has an address of a multicast object") {
  Buffer<u32> out(4);
  std::string text = kernel("multimem.red.relaxed.gpu.global.add.u32 [%out], %t;");
  text.replace(text.find("8.0"), 3, "8.1");
  Module module(text);
  const auto fault = module.run("k", {1, 1, 1}, {1, 1, 1}, out.address());
  REQUIRE(fault.has_value());
  CHECK(fault->kind == FaultKind::illegal_instruction);
  CHECK(fault->report.find("multimem, where no address is one of a multicast object") != std::string::npos);
}

TEST_CASE("Memory of another context is out of reach") {
  Module module(kernel("ld.global.u32 %r1, [%out];"));
  Buffer<u32> out(4);
  Launch launch = module.launch("k", {1, 1, 1}, {1, 1, 1}, out.address());
  launch.context = kContext + 1;
  const auto fault = run(launch);
  REQUIRE(fault.has_value());
  CHECK(fault->where.find("of another context") != std::string::npos);
}

TEST_CASE("Atomic operations return the old value and store the new one") {
  struct Case {
    const char* operation;
    u32 before, operand, after;
  };
  const Case cases[] = {{"add.u32", 5, 7, 12},
                        {"add.u32", 0xffffffff, 2, 1},
                        {"and.b32", 0xff, 0x3c, 0x3c},
                        {"or.b32", 0xf0, 0x0f, 0xff},
                        {"xor.b32", 0xff, 0x0f, 0xf0},
                        {"exch.b32", 1, 2, 2},
                        {"min.u32", 5, 0xffffffff, 5},
                        {"min.s32", 5, 0xffffffff, 0xffffffff},
                        {"max.u32", 5, 0xffffffff, 0xffffffff},
                        {"max.s32", 5, 0xffffffff, 5},
                        {"inc.u32", 6, 7, 7},
                        {"inc.u32", 7, 7, 0},
                        {"dec.u32", 6, 7, 5},
                        {"dec.u32", 0, 7, 7},
                        {"dec.u32", 9, 7, 7},
                        {"add.f32", 0x3f800000, 0x40000000, 0x40400000},
                        {"add.noftz.f16x2", 0x3c003c00, 0x40003c00, 0x42004000}};
  for (const Case& c : cases) {
    CAPTURE(c.operation, c.before, c.operand);
    const std::string name = c.operation;
    for (const bool shared : {false, true}) {
      const std::string space = shared ? "shared." : "global.", place = shared ? "[box]" : "[%out+64]";
      const std::string body =
          "mov.u32 %r1, " + std::to_string(c.before) + "; st." + space + "u32 " + place + ", %r1; mov.u32 %r2, " +
          std::to_string(c.operand) + ";\n" +
          ".reg .b32 %b<3>; .reg .f32 %f<3>; mov.b32 %b1, %r2; mov.b32 %f1, %r2;\n" +
          (name.ends_with("f32")  ? "atom." + space + name + " %f2, " + place + ", %f1; mov.b32 %r3, %f2;"
           : name.ends_with("x2") ? "atom." + space + name + " %b2, " + place + ", %b1; mov.b32 %r3, %b2;"
                                  : "atom." + space + name + " %r3, " + place + ", %r2;") +
          "ld." + space + "u32 %r4, " + place + "; st.global.v2.u32 [%out], {%r3, %r4};";
      Module module(kernel(body, ".shared .align 4 .b8 box[4];\n"));
      Buffer<u32> out(32);
      REQUIRE(!module.run("k", {1, 1, 1}, {1, 1, 1}, out.address()));
      CHECK(out[0] == c.before);
      CHECK(out[1] == c.after);
    }
  }
}

TEST_CASE("Atomic additions of many blocks are all counted") {
  Module module(kernel(R"(
    red.global.add.u32 [%out], 1;
    atom.global.add.u64 %a1, [%out+8], 3;
    mov.u32 %r1, %ctaid.x;
    red.global.max.u32 [%out+16], %r1;
    atom.global.cas.b32 %r2, [%out+20], %r1, 4000;)"));
  Buffer<u32> out(8);
  REQUIRE(!module.run("k", {500, 1, 1}, {256, 1, 1}, out.address()));
  CHECK(out[0] == 500 * 256);
  CHECK(out[2] == 3 * 500 * 256);
  CHECK(out[4] == 499);
  CHECK(out[5] == 4000);
}
