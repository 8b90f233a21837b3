// What lanes do together, and the barriers of a block.
#include "tests/simulator/exec_kernel.hpp"

using namespace cudasim;
using namespace cudasim::testing;

namespace {

std::vector<u32> results(const std::string& body, u32 threads, const std::string& before = "") {
  Module module(kernel(body, before));
  Buffer<u32> out(threads);
  const auto fault = module.run("k", {1, 1, 1}, {threads, 1, 1}, out.address());
  if (fault) UNSCOPED_INFO(fault->report);
  REQUIRE(!fault.has_value());
  return out.all();
}

Fault fault_of(const std::string& body, u32 threads, const std::string& before = "") {
  Module module(kernel(body, before));
  Buffer<u32> out(threads);
  const auto fault = module.run("k", {1, 1, 1}, {threads, 1, 1}, out.address());
  REQUIRE(fault.has_value());
  return *fault;
}

}  // namespace

TEST_CASE("shfl.sync moves values up, down, across and from a lane, within segments") {
  struct Case {
    const char* mode;
    u32 b, c;
    u32 (*source)(u32 lane);
  };
  const Case cases[] = {
      {"idx", 5, 31, [](u32) { return 5u; }},
      {"idx", 5, 0x181f, [](u32 lane) { return (lane & 24) | 5; }},
      {"up", 1, 0, [](u32 lane) { return lane == 0 ? 0 : lane - 1; }},
      {"up", 3, 0x1800, [](u32 lane) { return lane % 8 < 3 ? lane : lane - 3; }},
      {"down", 2, 31, [](u32 lane) { return lane > 29 ? lane : lane + 2; }},
      {"down", 2, 0x181f, [](u32 lane) { return lane % 8 > 5 ? lane : lane + 2; }},
      {"bfly", 16, 31, [](u32 lane) { return lane ^ 16; }},
  };
  for (const Case& c : cases) {
    CAPTURE(c.mode, c.b, c.c);
    const auto values =
        results("mul.lo.u32 %r1, %t, 10; shfl.sync." + std::string(c.mode) + ".b32 %r2, %r1, " + std::to_string(c.b) +
                    ", " + std::to_string(c.c) + ", 0xffffffff; st.global.u32 [%slot], %r2;",
                32);
    for (u32 i = 0; i < 32; ++i) CHECK(values[i] == 10 * c.source(i));
  }
}

TEST_CASE("shfl.sync reads 0 from a lane that has not come, so that a sum over fewer lanes is one all the same") {
  const auto out = results(R"(
    mov.u32 %r1, 1;
    setp.ge.u32 %p1, %t, 8;
    @%p1 bra END;
    shfl.sync.down.b32 %r2, %r1, 16, 31, 0xff; add.u32 %r1, %r1, %r2;
    shfl.sync.down.b32 %r2, %r1, 8, 31, 0xff; add.u32 %r1, %r1, %r2;
    shfl.sync.down.b32 %r2, %r1, 4, 31, 0xff; add.u32 %r1, %r1, %r2;
    shfl.sync.down.b32 %r2, %r1, 2, 31, 0xff; add.u32 %r1, %r1, %r2;
    shfl.sync.down.b32 %r2, %r1, 1, 31, 0xff; add.u32 %r1, %r1, %r2;
  END:
    st.global.u32 [%slot], %r1;)",
                           32);
  CHECK(out[0] == 8);
}

TEST_CASE("shfl.sync tells whether the lane it would read from is in range") {
  const auto values =
      results("shfl.sync.up.b32 %r2|%p1, %t, 1, 0, -1; selp.u32 %r2, 1, 0, %p1; st.global.u32 [%slot], %r2;", 32);
  for (u32 i = 0; i < 32; ++i) CHECK(values[i] == (i > 0));
}

TEST_CASE("A .sync operation waits for its members, wherever the warp's other lanes are") {
  const auto values = results(R"(
    setp.lt.u32 %p1, %t, 16;
    @%p1 bra LOW;
    mov.u32 %r1, 1000;
    bra MEET;
  LOW:
    mov.u32 %r1, 1;
    shfl.sync.bfly.b32 %r2, %t, 1, 31, 0xffff;
    add.u32 %r1, %r1, %r2;
  MEET:
    redux.sync.add.u32 %r3, %r1, 0xffffffff;
    st.global.u32 [%slot], %r3;)",
                              32);
  for (const u32 v : values) CHECK(v == 16 * 1000 + 16 + 120);
}

TEST_CASE("Lanes that come to a .sync operation in parts are gathered") {
  const auto values = results(R"(
    mov.u32 %r1, 0;
  LOOP:
    setp.ge.u32 %p1, %r1, %t;
    @%p1 bra ASK;
    add.u32 %r1, %r1, 1;
    bra LOOP;
  ASK:
    vote.sync.ballot.b32 %r2, %p1, 0xffffffff;
    activemask.b32 %r3;
    and.b32 %r2, %r2, %r3;
    st.global.u32 [%slot], %r2;)",
                              32);
  for (const u32 v : values) CHECK(v == 0xffffffff);
}

TEST_CASE("Members that have exited are not waited for") {
  const auto values = results(R"(
    setp.lt.u32 %p1, %t, 4;
    @%p1 exit;
    setp.lt.u32 %p2, %t, 8;
    vote.sync.ballot.b32 %r2, %p2, 0xffffffff;
    st.global.u32 [%slot], %r2;)",
                              32);
  for (u32 i = 0; i < 32; ++i) CHECK(values[i] == (i < 4 ? 0u : 0xf0u));
}

TEST_CASE("vote, match and elect work on each group of members") {
  const auto values = results(R"(
    shr.u32 %r1, %t, 2;
    match.any.sync.b32 %r2, %r1, 0xffffffff;
    match.all.sync.b32 %r3|%p1, %r1, %r2;
    setp.eq.u32 %p2, %t, 17;
    vote.sync.any.pred %p3, %p2, %r2;
    vote.sync.all.pred %p4, %p2, %r2;
    vote.sync.uni.pred %p5, %p2, %r2;
    elect.sync %r4|%p6, %r2;
    selp.u32 %r5, 1, 0, %p1;
    @%p3 add.u32 %r5, %r5, 10;
    @%p4 add.u32 %r5, %r5, 100;
    @%p5 add.u32 %r5, %r5, 1000;
    @%p6 add.u32 %r5, %r5, 10000;
    setp.eq.u32 %p7, %r2, %r3;
    @%p7 add.u32 %r5, %r5, 100000;
    st.global.u32 [%slot], %r5;)",
                              32);
  for (u32 i = 0; i < 32; ++i) CHECK(values[i] == 100001 + (i / 4 == 4 ? 10u : 1000u) + (i % 4 == 0 ? 10000u : 0u));
}

TEST_CASE("bar.warp.sync joins lanes that come from different places") {
  const auto values = results(R"(
    setp.lt.u32 %p1, %t, 16;
    @%p1 bra LOW;
    st.volatile.global.u32 [%slot], %t;
    bar.warp.sync 0xffffffff;
    bra MEET;
  LOW:
    bar.warp.sync 0xffffffff;
    ld.volatile.global.u32 %r1, [%slot+64];
    st.volatile.global.u32 [%slot], %r1;
  MEET:)",
                              32);
  for (u32 i = 0; i < 32; ++i) CHECK(values[i] == (i < 16 ? i + 16 : i));
}

TEST_CASE("bar.sync makes all writes of the block visible to all its threads") {
  const auto values = results(R"(
    mul.lo.u32 %r1, %t, 4;
    mov.u32 %r2, box;
    add.u32 %r3, %r2, %r1;
    st.shared.u32 [%r3], %t;
    bar.sync 0;
    sub.u32 %r4, 1023, %t;
    mad.lo.u32 %r3, %r4, 4, %r2;
    ld.shared.u32 %r5, [%r3];
    bar.sync 0;
    st.global.u32 [%slot], %r5;)",
                              1024, ".shared .align 4 .b8 box[4096];\n");
  for (u32 i = 0; i < 1024; ++i) CHECK(values[i] == 1023 - i);
}

TEST_CASE("bar.red counts and combines the predicates of the whole block") {
  const auto values = results(R"(
    setp.lt.u32 %p1, %t, 70;
    bar.red.popc.u32 %r1, 0, %p1;
    bar.red.and.pred %p2, 1, %p1;
    bar.red.or.pred %p3, 1, %p1;
    barrier.red.popc.u32 %r2, 2, 128, !%p1;
    mad.lo.u32 %r1, %r2, 1000, %r1;
    @%p2 add.u32 %r1, %r1, 1000000;
    @%p3 add.u32 %r1, %r1, 2000000;
    st.global.u32 [%slot], %r1;)",
                              128);
  for (const u32 v : values) CHECK(v == 70 + 58000 + 2000000);
}

TEST_CASE("Producers arrive at a named barrier and go on, consumers wait there") {
  const auto values = results(R"(
    mov.u32 %r9, box;
    setp.lt.u32 %p1, %t, 32;
    @%p1 bra CONSUMER;
    sub.u32 %r1, %t, 32;
    mad.lo.u32 %r2, %r1, 4, %r9;
    st.shared.u32 [%r2], %t;
    barrier.arrive 3, 64;
    bra DONE;
  CONSUMER:
    barrier.sync 3, 64;
    mad.lo.u32 %r2, %t, 4, %r9;
    ld.shared.u32 %r3, [%r2];
    st.global.u32 [%slot], %r3;
  DONE:)",
                              64, ".shared .align 4 .b8 box[128];\n");
  for (u32 i = 0; i < 32; ++i) CHECK(values[i] == i + 32);
}

TEST_CASE("Threads that wait in both halves of a branch wait at the same barrier") {
  const auto values = results(R"(
    and.b32 %r1, %t, 1;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra EVEN;
    barrier.sync 0;
    mov.u32 %r2, 1;
    bra MEET;
  EVEN:
    barrier.sync 0;
    mov.u32 %r2, 2;
  MEET:
    st.global.u32 [%slot], %r2;)",
                              70);
  for (u32 i = 0; i < 70; ++i) CHECK(values[i] == (i % 2 ? 1u : 2u));
}

TEST_CASE("Threads that have exited are not waited for at a barrier") {
  const auto values = results(R"(
    setp.ge.u32 %p1, %t, 50;
    @%p1 exit;
    bar.sync 0;
    st.global.u32 [%slot], 1;)",
                              100);
  for (u32 i = 0; i < 100; ++i) CHECK(values[i] == (i < 50));
}

TEST_CASE("A barrier that part of the block never reaches says which warps wait where") {
  const Fault fault = fault_of(R"(
    setp.lt.u32 %p1, %t, 64;
    @%p1 bra LOW;
    bar.sync 1;
    bra DONE;
  LOW:
    bar.sync 0;
  DONE:)",
                               96);
  CHECK(fault.kind == FaultKind::barrier);
  CHECK(fault.what.find("\nwarps 0, 1: wait for barrier 0 at PTX line ") != std::string::npos);
  CHECK(fault.what.find("\nwarp 2: waits for barrier 1 at PTX line ") != std::string::npos);
  CHECK(fault.report.find("a barrier that can never complete") != std::string::npos);
}

// What the upper half of a warp does while the lower half waits in `lower`; both name all lanes.
Fault fault_of_halves(const std::string& lower, const std::string& upper) {
  return fault_of("setp.lt.u32 %p1, %t, 16; @%p1 bra LOW; " + upper + " bra DONE; LOW: " + lower + " DONE:", 32);
}

TEST_CASE("Lanes that wait for each other in different exchanges are a fault, not a hang") {
  const std::string shuffle = "shfl.sync.idx.b32 %r1, %t, 0, 31, -1;";
  for (const std::string other :
       {"shfl.sync.bfly.b32 %r1, %t, 1, 31, -1;", "vote.sync.any.pred %p2, %p1, -1;", "redux.sync.add.u32 %r1, %t, -1;",
        "match.any.sync.b32 %r1, %t, -1;", "bar.warp.sync -1;", "bar.sync 0;"}) {
    CAPTURE(other);
    const Fault fault = fault_of_halves(shuffle, other);
    CHECK(fault.kind == FaultKind::barrier);
    CHECK(fault.what.find("warp 0, lanes 0 to 15:") != std::string::npos);
  }
}

TEST_CASE("Lanes at different places with different member masks wait for each other and are a fault") {
  const Fault fault =
      fault_of_halves("shfl.sync.idx.b32 %r1, %t, 0, 31, -1;", "shfl.sync.idx.b32 %r1, %t, 0, 31, 0xfffffffe;");
  CHECK(fault.kind == FaultKind::barrier);
}

TEST_CASE("Lanes that reach an aligned instruction through different calls are reported at once, by name") {
  Module module(kHeader + R"(
.func (.reg .b32 %v) turn (.reg .b32 %x) { movmatrix.sync.aligned.m8n8.trans.b16 %v, %x; ret; }
.entry k (.param .u64 out) { .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %o;
  mov.u32 %r1, %tid.x; setp.lt.u32 %p, %r1, 48; @%p bra CALLS;
WAIT: nanosleep.u32 1000; bra WAIT;
CALLS: and.b32 %r1, %r1, 31; setp.lt.u32 %p, %r1, 8; mov.b32 %r3, -1; @%p bra LOWER;
  call (%r2), turn, (%r3); bra END;
LOWER: call (%r2), turn, (%r3);
END: ld.param.u64 %o, [out]; st.global.u32 [%o], %r2; ret; }
)");
  Buffer<u32> out(1);
  // The second warp's upper half never ends, nor comes.
  const auto fault = module.run("k", {1, 1, 1}, {64, 1, 1}, out.address());
  REQUIRE(fault.has_value());
  CHECK(fault->kind == FaultKind::illegal_instruction);
  CHECK(fault->what.find("lanes 0 to 7") != std::string::npos);
  CHECK(fault->what.find("different calls") != std::string::npos);
}

TEST_CASE("Lanes that a spin has kept back exchange values with those that wait for them in a function") {
  // Lane 0 waits for another warp, which the function's result goes to only then; the others have long been in it.
  Module module(kHeader + R"(
.func (.reg .b32 %v) swap (.reg .b32 %x) { .local .b32 kept; .reg .b32 %y;
  st.local.u32 [kept], %x; shfl.sync.bfly.b32 %y, %x, 1, 31, -1; ld.local.u32 %x, [kept];
  mad.lo.u32 %v, %y, 100, %x; ret; }
.func (.reg .b32 %v) twice (.reg .b32 %x) { call (%v), swap, (%x); call (%v), swap, (%v); ret; }
.visible .entry k (.param .u64 out) { .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %o;
  ld.param.u64 %o, [out]; mov.u32 %r1, %tid.x; setp.lt.u32 %p, %r1, 32; @%p bra FIRST;
  nanosleep.u32 100000; setp.eq.u32 %p, %r1, 32; @%p st.volatile.global.u32 [%o], 1; ret;
FIRST: mov.u32 %r3, 0; mov.u32 %r2, %r1;
ROUND: setp.ne.u32 %p, %r1, %r3; @%p bra GO;
SPIN: ld.volatile.global.u32 %r4, [%o]; setp.eq.u32 %p, %r4, 0; @%p bra SPIN;
GO: call (%r2), twice, (%r2); add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, 2; @%p bra ROUND;
  mad.wide.u32 %o, %r1, 4, %o; st.global.u32 [%o+4], %r2; ret; }
)");
  Buffer<u32> out(33);
  const auto fault = module.run("k", {1, 1, 1}, {64, 1, 1}, out.address());
  if (fault) UNSCOPED_INFO(fault->report);
  REQUIRE(!fault.has_value());
  std::vector<u32> x(32), y(32);
  for (u32 i = 0; i < 32; ++i) x[i] = i;
  for (u32 round = 0; round < 4; ++round, x = y) {
    for (u32 i = 0; i < 32; ++i) y[i] = x[i ^ 1] * 100 + x[i];
  }
  for (u32 i = 0; i < 32; ++i) CHECK(out[i + 1] == x[i]);
}

TEST_CASE("Lanes that a spin has kept back meet their neighbours behind a branch that parts both") {
  // The even lanes and the odd ones exchange values among themselves; lane 0 comes to the branch after the others.
  Module module(kHeader + R"(
.func (.reg .b32 %v) swap (.reg .b32 %x, .reg .b32 %mask) { shfl.sync.bfly.b32 %v, %x, 2, 31, %mask; ret; }
.visible .entry k (.param .u64 out) { .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %o;
  ld.param.u64 %o, [out]; mov.u32 %r1, %tid.x; setp.lt.u32 %p, %r1, 32; @%p bra FIRST;
  nanosleep.u32 100000; setp.eq.u32 %p, %r1, 32; @%p st.volatile.global.u32 [%o], 1; ret;
FIRST: setp.ne.u32 %p, %r1, 0; @%p bra GO;
SPIN: ld.volatile.global.u32 %r4, [%o]; setp.eq.u32 %p, %r4, 0; @%p bra SPIN;
GO: and.b32 %r3, %r1, 1; setp.eq.u32 %p, %r3, 1; @%p bra ODD;
  mov.b32 %r5, 0x55555555; call (%r2), swap, (%r1, %r5); add.u32 %r2, %r2, 1000; bra END;
ODD: mov.b32 %r5, 0xaaaaaaaa; call (%r2), swap, (%r1, %r5);
END: mad.wide.u32 %o, %r1, 4, %o; st.global.u32 [%o+4], %r2; ret; }
)");
  Buffer<u32> out(33);
  const auto fault = module.run("k", {1, 1, 1}, {64, 1, 1}, out.address());
  if (fault) UNSCOPED_INFO(fault->report);
  REQUIRE(!fault.has_value());
  for (u32 i = 0; i < 32; ++i) CHECK(out[i + 1] == (i ^ 2) + (i % 2 == 0 ? 1000 : 0));
}

TEST_CASE(
    "The system's part of shared memory exists for kernels that ask for it, is zero at first, and is apart from the "
    "block's") {
  const std::string begin = "mov.u32 %r1, %reserved_smem_offset_1; mov.u32 %r2, %reserved_smem_offset_end; ";
  Module module(kernel(begin + R"(
    sub.u32 %r3, %r2, %r1; ld.shared.u32 %r4, [%r1]; ld.shared.u32 %r5, [%r1+284];
    st.shared.u32 [%r1], -1; st.shared.u32 [%r1+284], -1; st.shared.u32 [mine], 5; ld.shared.u32 %r6, [mine+4];
    or.b32 %r4, %r4, %r5; mov.u32 %r7, %total_smem_size; mov.u32 %r8, %ctaid.x;
    mul.wide.u32 %slot, %r8, 12; add.s64 %slot, %out, %slot;
    st.global.u32 [%slot], %r3; st.global.u32 [%slot+4], %r4; st.global.u32 [%slot+8], %r7;)",
                       ".shared .align 4 .b8 mine[8];"));
  Buffer<u32> out(3 * 64);
  REQUIRE(!module.run("k", {64, 1, 1}, {1, 1, 1}, out.address()));
  for (u32 block = 0; block < 64; ++block) {
    CHECK(out[block * 3] >= 288);  // what cooperative groups count on
    CHECK(out[block * 3 + 1] == 0);
    CHECK(out[block * 3 + 2] == 128);
  }
  CHECK(fault_of(begin + "st.shared.u32 [%r2], 1;", 1).kind == FaultKind::illegal_address);
  CHECK(fault_of(begin + "st.shared.u32 [%r1+-4], 1;", 1).kind == FaultKind::illegal_address);
}

TEST_CASE("A barrier that does not exist, or counts no whole warps, is a fault") {
  CHECK(fault_of("mov.u32 %r1, 16; bar.sync %r1;", 32).kind == FaultKind::illegal_instruction);
  CHECK(fault_of("mov.u32 %r1, 33; bar.sync 1, %r1;", 64).kind == FaultKind::illegal_instruction);
}

TEST_CASE("Special registers say where a thread is") {
  Module module(kernel(R"(
    mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;
    mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y;
    mad.lo.u32 %r6, %r3, %r5, %r2;
    mad.lo.u32 %r6, %r6, %r4, %r1;
    mov.u32 %r7, %ctaid.x; mov.u32 %r8, %ctaid.y; mov.u32 %r9, %ctaid.z;
    mov.u32 %r10, %nctaid.x; mov.u32 %r11, %nctaid.y;
    mad.lo.u32 %r12, %r9, %r11, %r8;
    mad.lo.u32 %r12, %r12, %r10, %r7;
    mad.lo.u32 %r12, %r12, 60, %r6;
    mad.wide.u32 %slot, %r12, 4, %out;
    mov.u32 %r13, %laneid; mov.u32 %r14, %warpid; mov.u32 %r15, %lanemask_lt;
    popc.b32 %r15, %r15;
    mad.lo.u32 %r13, %r14, 32, %r13;
    mad.lo.u32 %r13, %r15, 1000, %r13;
    st.global.u32 [%slot], %r13;)"));
  Buffer<u32> out(60 * 24);
  REQUIRE(!module.run("k", {2, 3, 4}, {3, 4, 5}, out.address()));
  for (u32 i = 0; i < 60 * 24; ++i) CHECK(out[i] == i % 60 + i % 60 % 32 * 1000);
}
