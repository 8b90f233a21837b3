// A load or store that takes an array and an index (ptx/resolve_addresses.cpp) does what the instructions do that would
// have worked out its address. Each case runs twice: with the array as the launch's parameter, and as a copy of it,
// which nothing is known of.
#include "tests/simulator/exec_kernel.hpp"

using namespace cudasim;
using namespace cudasim::testing;

namespace {

constexpr u32 kWords = 1024;  // of the array; the kernel gets the address of its middle
constexpr u32 kThreads = 64;

struct Outcome {
  std::vector<u32> array, out;
  std::string fault;
  std::size_t instructions = 0;
};

// %a: the array; %out: 8 words a thread, of which %slot has the address; %t: the thread.
Outcome outcome(const std::string& body, const std::string& copy, u32 threads) {
  Module module(kHeader + R"(
.visible .entry k(.param .u64 a, .param .u64 out) {
  .reg .u64 %given, %a, %out, %slot, %w<9>, %p<9>, %d<9>;
  .reg .u32 %t, %i, %r<9>;
  .reg .u16 %h<9>;
  .reg .pred %q;
  ld.param.u64 %given, [a];
  ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %slot, %t, 32, %out;
  )" + copy + " %a, %given;\n" +
                body + "\n  ret;\n}\n");
  Buffer<u32> array(kWords), out(kThreads * 8);
  for (u32 w = 0; w < kWords; ++w) array[w] = w * 0x01020305u;
  const auto fault =
      module.run("k", {1, 1, 1}, {threads, 1, 1}, array.address() + kWords / 2 * sizeof(u32), out.address());
  Outcome result{array.all(), out.all(), "", module.program->functions[0]->instructions.size()};
  if (fault) {  // addresses differ from run to run
    result.fault = fault->what + " by thread " + std::to_string(fault->thread.x) + " at line " +
                   std::to_string(fault->ptx_line) + ": " + std::to_string(fault->address - array.address()) +
                   ", kind " + std::to_string(static_cast<int>(fault->kind));
  }
  return result;
}

// Checks that both forms do the same, and that the indexed one needs `fewer` instructions less, beside the copy.
void same(const std::string& body, std::size_t fewer, u32 threads = kThreads) {
  INFO(body);
  INFO(threads << " threads");
  const Outcome plain = outcome(body, "mov.u64", threads), indexed = outcome(body, "cvta.to.global.u64", threads);
  CHECK(indexed.array == plain.array);
  CHECK(indexed.out == plain.out);
  CHECK(indexed.fault == plain.fault);
  CHECK(indexed.instructions + fewer + 1 == plain.instructions);
}

// %i from %t in the ways in which programs do it.
const std::vector<std::string> kIndices = {
    "mov.u32 %i, %t;",  // one after the other
    "and.b32 %i, %t, 15;",  // rows of a tile
    "shr.u32 %i, %t, 4;",  // a tile's columns, all lanes of a row the same
    "mov.u32 %i, 5;",  // all the same
    "xor.b32 %i, %t, 13;",  // otherwise
    "mul.lo.u32 %i, %t, 3; sub.u32 %i, 100, %i;",  // downwards, with gaps, below 0
    "sub.u32 %i, %t, 40;",  // from below 0 to above
    "mul.lo.u32 %i, %t, 7; rem.u32 %i, %i, 64;"};

}  // namespace

TEST_CASE("Loads with an index, whichever way the indices lie") {
  for (const std::string& index : kIndices) {
    for (const u32 threads : {64u, 7u}) {
      same(index + R"(
        mul.wide.s32 %w1, %i, 4;
        add.s64 %p1, %a, %w1;
        ld.global.u32 %r1, [%p1];
        ld.global.u32 %r2, [%p1+-8];
        st.global.v2.u32 [%slot], {%r1, %r2};)",
           2, threads);
    }
  }
}

TEST_CASE("Stores with an index, whichever way the indices lie") {
  for (const std::string& index : kIndices) {
    for (const u32 threads : {64u, 7u}) {
      same(index + R"(
        mad.wide.s32 %p1, %i, 4, %a;
        st.global.u32 [%p1+64], %t;)",
           1, threads);
    }
  }
}

TEST_CASE("Elements of all sizes, vectors, and scales that are not their size") {
  for (const std::string& index : kIndices) {
    same(index + R"(
      mul.wide.s32 %w1, %i, 1;
      add.s64 %p1, %w1, %a;
      ld.global.u8 %r1, [%p1];
      ld.global.s8 %r2, [%p1];
      mul.wide.s32 %w2, %i, 2;
      add.s64 %p2, %a, %w2;
      ld.global.s16 %r3, [%p2];
      mul.wide.s32 %w3, %i, 8;
      add.u64 %p3, %a, %w3;
      ld.global.u64 %d1, [%p3];
      ld.global.v2.u32 {%r4, %r5}, [%p3];
      ld.global.u32 %r6, [%p3+4];
      st.global.v4.u32 [%slot], {%r1, %r2, %r3, %r4};
      st.global.v2.u32 [%slot+16], {%r5, %r6};
      st.global.u64 [%slot+24], %d1;)",
         6);
    same(index + R"(
      mul.wide.s32 %w1, %i, 16;
      add.s64 %p1, %a, %w1;
      ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%p1];
      st.global.v4.u32 [%p1], {%r4, %r3, %r2, %r1};
      ld.global.v2.u64 {%d1, %d2}, [%p1];
      st.global.v2.u64 [%slot], {%d2, %d1};)",
         2);
  }
}

TEST_CASE("An index that is loaded over by what it leads to") {
  const std::string way = "and.b32 %i, %t, 31; mul.wide.u32 %w1, %i, 8; add.s64 %p1, %a, %w1;";
  same(way + "ld.global.u32 %i, [%p1]; st.global.u32 [%slot], %i;", 2);
  same(way + "ld.global.v2.u32 {%i, %r1}, [%p1]; st.global.v2.u32 [%slot], {%i, %r1};", 2);
  same("xor.b32 %t, %t, 13;" + way + "ld.global.v2.u32 {%i, %r1}, [%p1]; st.global.v2.u32 [%slot], {%i, %r1};", 2);
}

TEST_CASE("Some lanes only") {
  same(R"(
    setp.lt.u32 %q, %t, 21;
    mov.u32 %r1, 7;
    mul.wide.s32 %w1, %t, 4;
    add.s64 %p1, %a, %w1;
    @%q ld.global.u32 %r1, [%p1];
    @!%q st.global.u32 [%p1], %r1;
    st.global.u32 [%slot], %r1;)",
       2);
}

TEST_CASE("What is known of an address ends where it or its index is written, or something may jump to") {
  SECTION("the index changes") {
    same(R"(
      mov.u32 %i, %t;
      mul.wide.s32 %w1, %i, 4;
      add.s64 %p1, %a, %w1;
      add.u32 %i, %i, 1;
      ld.global.u32 %r1, [%p1];
      st.global.v2.u32 [%slot], {%r1, %i};)",
         0);
  }
  SECTION("the index may change") {
    same(R"(
      setp.lt.u32 %q, %t, 21;
      mov.u32 %i, %t;
      mul.wide.s32 %w1, %i, 4;
      @%q add.u32 %i, %i, 1;
      add.s64 %p1, %a, %w1;
      ld.global.u32 %r1, [%p1];
      st.global.v2.u32 [%slot], {%r1, %i};)",
         0);
  }
  SECTION("the address changes") {
    same(R"(
      mul.wide.s32 %w1, %t, 4;
      add.s64 %p1, %a, %w1;
      add.s64 %p1, %p1, 4;
      ld.global.u32 %r1, [%p1];
      st.global.u32 [%slot], %r1;)",
         0);
  }
  SECTION("a label between") {
    same(R"(
      mov.u32 %i, 0;
      mov.u32 %r2, 0;
      mul.wide.s32 %w1, %t, 4;
      add.s64 %p1, %a, %w1;
    again:
      ld.global.u32 %r1, [%p1];
      add.u32 %r2, %r2, %r1;
      add.s64 %p1, %p1, 16;
      add.u32 %i, %i, 1;
      setp.lt.u32 %q, %i, 5;
      @%q bra again;
      st.global.u32 [%slot], %r2;)",
         0);
  }
  SECTION("a loop around it all, whose ends lanes reach one by one") {
    same(R"(
      mov.u32 %i, %t;
      mov.u32 %r2, 0;
    again:
      mul.wide.u32 %w1, %i, 4;
      add.s64 %p1, %a, %w1;
      ld.global.u32 %r1, [%p1];
      add.u32 %r2, %r2, %r1;
      add.u32 %i, %i, 9;
      setp.lt.u32 %q, %i, 100;
      @%q bra again;
      st.global.u32 [%slot], %r2;)",
         2);
  }
}

TEST_CASE("What others read as well is worked out all the same") {
  same(R"(
    mul.wide.s32 %w1, %t, 4;
    add.s64 %p1, %a, %w1;
    ld.global.u32 %r1, [%p1];
    st.global.u32 [%slot], %r1;
    st.global.u64 [%slot+8], %w1;)",
       1);
}

TEST_CASE("A fault names the same thread, line and address, with an index or without") {
  const std::vector<std::string> accesses = {"ld.global.u32 %r1, [%p1];", "st.global.u32 [%p1], %t;",
                                             "ld.u32 %r1, [%p1];"};
  const std::vector<std::string> indices = {"add.u32 %i, %t, 460;",  // some lanes past the end
                                            "sub.u32 %i, %t, 600;",  // before the beginning
                                            "add.u32 %i, %t, 0x7ffffff0;",  // from the highest index to the lowest
                                            "mul.lo.u32 %i, %t, 100;", "add.u32 %i, %t, 0x3fffffff;"};
  for (const std::string& access : accesses) {
    for (const std::string& index : indices) {
      same(index + "\n mul.wide.s32 %w1, %i, 4;\n add.s64 %p1, %a, %w1;\n" + access, 2);
      same(index + "\n mul.wide.u32 %w1, %i, 4;\n add.s64 %p1, %a, %w1;\n" + access, 2);
    }
    same("mul.wide.u32 %w1, %t, 6;\n add.s64 %p1, %a, %w1;\n" + access, 2);  // misaligned
  }
}

TEST_CASE("How the lanes' indices lie is found out once, and again where it may have changed") {
  const std::string first = R"(
    mov.u32 %i, %t;
    mov.u32 %r2, 0;
    mul.wide.u32 %w1, %i, 4;
    add.s64 %p1, %a, %w1;
    ld.global.u32 %r1, [%p1];)";
  const std::string last = "ld.global.u32 %r3, [%p2]; add.u32 %r2, %r2, %r3; st.global.v2.u32 [%slot], {%r1, %r2};";
  // From %t: the first and the last lane's are as if they went up one by one.
  const auto mixed = [](const std::string& to) {
    return "shr.u32 %r6, %t, 3; and.b32 %r6, %r6, 3; setp.eq.u32 %q, %r6, 1; selp.u32 %r6, 6, 0, %q; xor.b32 " + to +
           ", %t, %r6;";
  };
  const std::string other = "mul.wide.u32 %w2, %i, 4; add.s64 %p2, %a, %w2;";
  SECTION("the same index, elements of another size, and another scale between") {
    same(first + "mul.wide.u32 %w2, %i, 8; add.s64 %p2, %a, %w2; ld.global.u64 %d1, [%p2]; ld.global.u8 %r2, [%p1];" +
             "st.global.u32 [%p1+128], %r2;" + last,
         4);
  }
  SECTION("another index, at which only some lanes look first, or none") {
    for (const char* some : {"21", "0", "64"}) {
      same(first + mixed("%i") + "setp.lt.u32 %q, %t, " + some + ";" + other + "@%q ld.global.u32 %r2, [%p2];" + last,
           4);
    }
  }
  SECTION("another one between") {
    same(first + mixed("%r4") + "mul.wide.u32 %w2, %r4, 4; add.s64 %p2, %a, %w2; ld.global.u32 %r2, [%p2];" +
             "ld.global.u32 %r5, [%p1+4]; add.u32 %r2, %r2, %r5;" + last,
         4);
  }
  SECTION("lanes that come by different ways") {
    same(first + "setp.lt.u32 %q, %t, 21; @%q bra odd; bra meet; odd:" + mixed("%i") + "meet:" + other +
             "ld.global.u32 %r2, [%p2];" + last,
         4);
  }
  SECTION("a loop, at whose end the index changes") {
    same(first + "mov.u32 %r5, 0; again:" + other + "ld.global.u32 %r3, [%p2]; add.u32 %r2, %r2, %r3;" + mixed("%i") +
             "add.u32 %r5, %r5, 1; setp.lt.u32 %q, %r5, 2; @%q bra again; st.global.v2.u32 [%slot], {%r1, %r2};",
         4);
  }
}
