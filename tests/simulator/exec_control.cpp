// How lanes part, meet, call, return and end.
#include "tests/simulator/exec_kernel.hpp"

using namespace cudasim;
using namespace cudasim::testing;

namespace {

// Runs the kernel with one block of `threads` and gives back the u32s, one for each thread.
std::vector<u32> results(const std::string& body, u32 threads, const std::string& before = "", u32 initial = 0) {
  Module module(kernel(body, before));
  Buffer<u32> out(threads, initial);
  const auto fault = module.run("k", {1, 1, 1}, {threads, 1, 1}, out.address());
  if (fault) UNSCOPED_INFO(fault->report);
  REQUIRE(!fault.has_value());
  return out.all();
}

}  // namespace

TEST_CASE("Each thread of a partial warp stores its own number, and no other does") {
  const auto values = results("st.global.u32 [%slot], %t;", 45);
  for (u32 i = 0; i < 45; ++i) CHECK(values[i] == i);
}

TEST_CASE("Lanes that diverge at a branch run both sides and meet again behind it") {
  const auto values = results(R"(
    and.b32 %r1, %t, 1;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra EVEN;
    mov.u32 %r2, 100;
    bra MEET;
  EVEN:
    mov.u32 %r2, 200;
  MEET:
    activemask.b32 %r3;
    popc.b32 %r3, %r3;
    add.u32 %r2, %r2, %r3;
    st.global.u32 [%slot], %r2;)",
                              64);
  for (u32 i = 0; i < 64; ++i) CHECK(values[i] == (i % 2 == 0 ? 200 : 100) + 32);
}

TEST_CASE("Lanes leave a loop after different numbers of rounds and meet behind it") {
  const auto values = results(R"(
    mov.u32 %r1, 0;
    mov.u32 %r2, 0;
  LOOP:
    add.u32 %r2, %r2, %r1;
    add.u32 %r1, %r1, 1;
    setp.le.u32 %p1, %r1, %t;
    @%p1 bra LOOP;
    activemask.b32 %r3;
    popc.b32 %r3, %r3;
    mad.lo.u32 %r2, %r3, 1000, %r2;
    st.global.u32 [%slot], %r2;)",
                              32);
  for (u32 i = 0; i < 32; ++i) CHECK(values[i] == i * (i + 1) / 2 + 32000);
}

TEST_CASE("Nested divergence inside a loop comes together in each round") {
  const auto values = results(R"(
    mov.u32 %r1, 0;
    mov.u32 %r5, 0;
  LOOP:
    xor.b32 %r2, %r1, %t;
    and.b32 %r2, %r2, 1;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra A;
    and.b32 %r3, %t, 2;
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra B;
    add.u32 %r5, %r5, 1;
    bra DONE;
  B:
    add.u32 %r5, %r5, 10;
    bra DONE;
  A:
    add.u32 %r5, %r5, 100;
  DONE:
    activemask.b32 %r6;
    setp.ne.u32 %p3, %r6, 0xffffffff;
    @%p3 add.u32 %r5, %r5, 1000000;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 6;
    @%p1 bra LOOP;
    st.global.u32 [%slot], %r5;)",
                              32);
  for (u32 i = 0; i < 32; ++i) CHECK(values[i] == 300 + ((i & 2) ? 3u : 30u));
}

TEST_CASE("A thread that exits in divergent code is not waited for") {
  const auto values = results(R"(
    setp.lt.u32 %p1, %t, 10;
    @%p1 bra LOW;
    setp.lt.u32 %p2, %t, 20;
    @%p2 exit;
    bra MEET;
  LOW:
    add.u32 %t, %t, 1000;
  MEET:
    bar.sync 0;
    st.global.u32 [%slot], %t;)",
                              40, "", 7);
  for (u32 i = 0; i < 40; ++i) CHECK(values[i] == (i < 10 ? i + 1000 : i < 20 ? 7 : i));
}

TEST_CASE("A lane that spins on a lock held by its neighbour gets the lock") {
  const auto values = results(R"(
  TRY:
    atom.global.cas.b32 %r1, [%out+128], 0, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra TRY;
    ld.volatile.global.u32 %r2, [%out+132];
    add.u32 %r2, %r2, 1;
    st.volatile.global.u32 [%out+132], %r2;
    membar.gl;
    atom.global.exch.b32 %r1, [%out+128], 0;)",
                              64);
  CHECK(values[33] == 64);
  CHECK(values[32] == 0);
}

TEST_CASE("A lane waits for what another lane of its warp writes behind their common branch") {
  const auto values = results(R"(
    setp.eq.u32 %p1, %t, 0;
    @%p1 bra PRODUCER;
  WAIT:
    ld.volatile.global.u32 %r1, [%out];
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra WAIT;
    st.global.u32 [%slot], %r1;
    bra DONE;
  PRODUCER:
    st.volatile.global.u32 [%out], 55;
  DONE:)",
                              32);
  for (const u32 v : values) CHECK(v == 55);
}

TEST_CASE("A wait without volatile reads is left too, after a while") {
  const auto values = results(R"(
    setp.eq.u32 %p1, %t, 31;
    @%p1 bra PRODUCER;
  WAIT:
    ld.global.u32 %r1, [%out+124];
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra WAIT;
    st.global.u32 [%slot], %r1;
    bra DONE;
  PRODUCER:
    st.global.u32 [%out+124], 55;
  DONE:)",
                              32);
  for (const u32 v : values) CHECK(v == 55);
}

TEST_CASE("brx.idx sends each lane to its own label") {
  const auto values = results(R"(
    and.b32 %r1, %t, 3;
    TABLE: .branchtargets L0, L1, L2, L3;
    brx.idx %r1, TABLE;
  L0: mov.u32 %r2, 10; bra DONE;
  L1: mov.u32 %r2, 11; bra DONE;
  L2: mov.u32 %r2, 12; bra DONE;
  L3: mov.u32 %r2, 13;
  DONE:
    activemask.b32 %r3;
    popc.b32 %r3, %r3;
    mad.lo.u32 %r2, %r3, 100, %r2;
    st.global.u32 [%slot], %r2;)",
                              32);
  for (u32 i = 0; i < 32; ++i) CHECK(values[i] == 3210 + i % 4);
}

TEST_CASE("brx.idx beyond the table is a fault") {
  Module module(kernel(R"(
    TABLE: .branchtargets L0, L1;
    brx.idx %t, TABLE;
  L0:
  L1:)"));
  Buffer<u32> out(32);
  const auto fault = module.run("k", {1, 1, 1}, {3, 1, 1}, out.address());
  REQUIRE(fault.has_value());
  CHECK(fault->kind == FaultKind::invalid_pc);
  CHECK(fault->thread.x == 2);
}

namespace {
const char kFibonacci[] = R"(
.func (.param .b32 result) fib(.param .b32 n) {
  .reg .u32 %r<8>;
  .reg .pred %p;
  ld.param.u32 %r1, [n];
  setp.lt.u32 %p, %r1, 2;
  @%p bra SMALL;
  { .param .b32 a; .param .b32 r;
    sub.u32 %r2, %r1, 1;
    st.param.b32 [a], %r2;
    call (r), fib, (a);
    ld.param.b32 %r3, [r]; }
  { .param .b32 a; .param .b32 r;
    sub.u32 %r2, %r1, 2;
    st.param.b32 [a], %r2;
    call (r), fib, (a);
    ld.param.b32 %r4, [r]; }
  add.u32 %r3, %r3, %r4;
  st.param.b32 [result], %r3;
  ret;
SMALL:
  st.param.b32 [result], %r1;
  ret;
}
)";
const char kCallFibonacci[] = R"(
  { .param .b32 a; .param .b32 r;
    st.param.b32 [a], %r1;
    call (r), fib, (a);
    ld.param.b32 %r2, [r]; }
  activemask.b32 %r3;
  popc.b32 %r3, %r3;
  mad.lo.u32 %r2, %r3, 10000, %r2;
  st.global.u32 [%slot], %r2;)";
}  // namespace

TEST_CASE("A recursive function returns to each lane what it asked for, and all meet behind the call") {
  const auto values = results(std::string("and.b32 %r1, %t, 15;") + kCallFibonacci, 32, kFibonacci);
  const u32 fib[16] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610};
  for (u32 i = 0; i < 32; ++i) CHECK(values[i] == fib[i % 16] + 320000);
}

// LLVM does so with pairs of bytes.
TEST_CASE("A parameter of two bytes at the address of a word is passed as a word, and its neighbor does not change") {
  Module module(kernel(R"(
    { .param .align 4 .b8 a[2]; .param .align 1 .b8 b[1]; .param .align 4 .b8 r[2]; .param .align 4 .b8 next[1];
      st.param.b32 [a], 0x12345678; st.param.b8 [b], 9; st.param.b8 [next], 7;
      call (r), both, (a, b);
      ld.param.b32 %r1, [r]; ld.param.u8 %r2, [next]; mad.lo.u32 %r1, %r2, 0x1000000, %r1; }
    st.global.u32 [%slot], %r1;)",
                       R"(
.func (.param .align 4 .b8 r[2]) both(.param .align 4 .b8 a[2], .param .align 1 .b8 b[1]) {
  .reg .b32 %x, %y; ld.param.b32 %x, [a]; ld.param.u8 %y, [b]; add.u32 %x, %x, %y; st.param.b32 [r], %x; ret; })"));
  Buffer<u32> out(1);
  const auto fault = module.run("k", {1, 1, 1}, {1, 1, 1}, out.address());
  CHECK(!fault.has_value());
  CHECK(out[0] == 0x19345681);
}

TEST_CASE("A result that a call does not want is dropped, whether it is in a register or in memory") {
  const auto values = results(R"(
    { .param .b32 %in; st.param.b32 [%in], %t; call (_), twice, (%in); }
    call (_), thrice, (%t);
    call (%r1), thrice, (%t);
    st.global.u32 [%slot], %r1;)",
                              33, R"(
.func (.param .b32 o) twice (.param .b32 i) { .reg .u32 x; ld.param.u32 x, [i]; add.u32 x, x, x; st.param.u32 [o], x; ret; }
.func (.reg .u32 o) thrice (.reg .u32 i) { mul.lo.u32 o, i, 3; ret; }
)");
  for (u32 i = 0; i < 33; ++i) CHECK(values[i] == 3 * i);
}

TEST_CASE("A recursion without an end overflows the stack and says how deep it was") {
  Module module(kernel(R"({ .param .b32 a; st.param.b32 [a], 1; call deep, (a); })", R"(
.func deep(.param .b32 n) { .param .b32 a; st.param.b32 [a], 1; call deep, (a); ret; })"));
  Buffer<u32> out(32);
  const auto fault = module.run("k", {1, 1, 1}, {32, 1, 1}, out.address());
  REQUIRE(fault.has_value());
  CHECK(fault->kind == FaultKind::stack_overflow);
  CHECK(fault->what.find("call of 'deep' at depth ") == 0);
  CHECK(fault->what.find("limited to 1024 bytes (cuCtxSetLimit and CU_LIMIT_STACK_SIZE, ") != std::string::npos);
}

TEST_CASE("Lanes call different functions through pointers") {
  const auto values = results(R"(
    and.b32 %r1, %t, 1;
    setp.eq.u32 %p1, %r1, 0;
    mov.u64 %a1, twice;
    mov.u64 %a2, thrice;
    selp.b64 %a3, %a1, %a2, %p1;
    { .param .b32 a; .param .b32 r;
      st.param.b32 [a], %t;
      PROTO: .callprototype (.param .b32 _) _ (.param .b32 _);
      call (r), %a3, (a), PROTO;
      ld.param.b32 %r2, [r]; }
    activemask.b32 %r3;
    popc.b32 %r3, %r3;
    mad.lo.u32 %r2, %r3, 1000, %r2;
    st.global.u32 [%slot], %r2;)",
                              32, R"(
.func (.param .b32 r) twice(.param .b32 n) { .reg .u32 %x; ld.param.u32 %x, [n]; shl.b32 %x, %x, 1; st.param.b32 [r], %x; ret; }
.func (.param .b32 r) thrice(.param .b32 n) { .reg .u32 %x; ld.param.u32 %x, [n]; mul.lo.u32 %x, %x, 3; st.param.b32 [r], %x; ret; }
)");
  for (u32 i = 0; i < 32; ++i) CHECK(values[i] == i * (i % 2 == 0 ? 2 : 3) + 32000);
}

TEST_CASE("A call through an address where no function is, is a fault") {
  Module module(kernel(R"(
    mov.u64 %a3, 1234;
    PROTO: .callprototype _ ();
    call %a3, PROTO;)"));
  Buffer<u32> out(32);
  const auto fault = module.run("k", {1, 1, 1}, {32, 1, 1}, out.address());
  REQUIRE(fault.has_value());
  CHECK(fault->kind == FaultKind::invalid_pc);
  CHECK(fault->what == "call through 0x4d2, which is not the address of a function");
}

TEST_CASE("trap ends the grid with a fault that names kernel, block and thread") {
  Module module(kernel(R"(
    mov.u32 %r1, %ctaid.y;
    setp.eq.u32 %p1, %r1, 1;
    setp.eq.and.u32 %p1, %t, 5, %p1;
    @%p1 trap;)"));
  Buffer<u32> out(32);
  const auto fault = module.run("k", {1, 3, 1}, {32, 1, 1}, out.address());
  REQUIRE(fault.has_value());
  CHECK(fault->kind == FaultKind::trap);
  CHECK(fault->kernel == "k");
  CHECK(fault->block.y == 1);
  CHECK(fault->thread.x == 5);
}

TEST_CASE("Every block of a big grid runs, and runs once") {
  Module module(kernel(R"(
    mov.u32 %r1, %ctaid.x;
    mad.lo.u32 %r1, %r1, 1024, %t;
    mad.wide.u32 %a1, %r1, 4, %out;
    atom.global.add.u32 %r2, [%a1], 1;)"));
  constexpr u32 kBlocks = 2000;
  Buffer<u32> out(kBlocks * 1024);
  REQUIRE(!module.run("k", {kBlocks, 1, 1}, {1024, 1, 1}, out.address()));
  bool all = true;
  for (u32 i = 0; i < kBlocks * 1024; ++i) all &= out[i] == 1;
  CHECK(all);
}

TEST_CASE("A block that waits for a later block lets it start") {
  Module module(kernel(R"(
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %nctaid.x;
    atom.global.add.u32 %r3, [%out], 1;
  WAIT:
    ld.acquire.gpu.global.u32 %r4, [%out];
    setp.lt.u32 %p1, %r4, %r2;
    @%p1 bra WAIT;)"));
  Buffer<u32> out(1);
  REQUIRE(!module.run("k", {300, 1, 1}, {1, 1, 1}, out.address()));
  CHECK(out[0] == 300);
}

TEST_CASE("A kernel that never ends is stopped by the budget and says where its threads stand") {
  setenv("CUDASIM_BUDGET", "200000", 1);
  Module module(kernel(R"(
  WAIT:
    ld.volatile.global.u32 %r4, [%out];
    setp.eq.u32 %p1, %r4, 0;
    @%p1 bra WAIT;)"));
  Buffer<u32> out(1);
  const auto fault = module.run("k", {1, 1, 1}, {64, 1, 1}, out.address());
  unsetenv("CUDASIM_BUDGET");
  REQUIRE(fault.has_value());
  CHECK(fault->kind == FaultKind::timeout);
  CHECK(fault->what.find("200000 instructions have run since a block last ended") == 0);
  CHECK(fault->what.find("\nwarps 0, 1: run at PTX line ") != std::string::npos);
}

TEST_CASE("If many blocks wait for each other in vain, several of them are reported") {
  setenv("CUDASIM_BUDGET", "200000", 1);
  Module module(kernel(R"(
  WAIT:
    ld.volatile.global.u32 %r4, [%out];
    setp.eq.u32 %p1, %r4, 0;
    @%p1 bra WAIT;)"));
  Buffer<u32> out(1);
  auto launch = module.launch("k", {40, 1, 1}, {64, 1, 1}, out.address());
  launch.cooperative = true;  // all begin before any goes on
  const auto fault = cudasim::run(launch);
  unsetenv("CUDASIM_BUDGET");
  REQUIRE(fault.has_value());
  CHECK(fault->kind == FaultKind::timeout);
  std::size_t blocks = 0;
  for (std::size_t at = 0; (at = fault->what.find("\nblock (", at)) != std::string::npos; ++at) ++blocks;
  CHECK(blocks == 3);
  CHECK(fault->what.find(" more blocks that have started") != std::string::npos);
}
