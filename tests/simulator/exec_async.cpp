// Asynchronous copies, mbarriers, clusters.
#include "tests/simulator/exec_kernel.hpp"

using namespace cudasim;
using namespace cudasim::testing;

TEST_CASE("cp.async copies into shared memory and fills what it does not read with zeros") {
  Module module(kernel(R"(
    mov.u32 %r1, box;
    mad.lo.u32 %r2, %t, 16, %r1;
    mad.wide.u32 %a1, %t, 16, %out;
    cp.async.ca.shared.global [%r2], [%a1+512], 16;
    cp.async.ca.shared.global [%r2+8], [%a1+520], 8, 4;
    cp.async.commit_group;
    cp.async.wait_group 0;
    bar.sync 0;
    ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2];
    st.global.v4.u32 [%a1], {%r3, %r4, %r5, %r6};)",
                       ".shared .align 16 .b8 box[512];\n"));
  Buffer<u32> out(256);
  for (u32 i = 0; i < 256; ++i) out[i] = i;
  REQUIRE(!module.run("k", {1, 1, 1}, {32, 1, 1}, out.address()));
  for (u32 i = 0; i < 128; ++i) CHECK(out[i] == (i % 4 == 3 ? 0 : i + 128));
}

TEST_CASE("Whoever does not wait for a copy finds what was there before") {
  Module module(kernel(R"(
    mov.u32 %r1, box;
    mad.lo.u32 %r2, %t, 16, %r1;
    mad.wide.u32 %a1, %t, 16, %out;
    st.shared.v4.u32 [%r2], {%t, %t, %t, %t};
    setp.lt.u32 %p1, %t, 16;
    cp.async.ca.shared.global [%r2], [%a1+512], 4;
    cp.async.commit_group;
    cp.async.ca.shared.global [%r2+4], [%a1+512], 4, %p1;
    cp.async.commit_group;
    cp.async.ca.shared.global [%r2+8], [%a1+512], 4;
    cp.async.wait_group 1;
    bar.sync 0;
    ld.shared.v2.u32 {%r3, %r4}, [%r2];
    cp.async.wait_group 0;
    ld.shared.u32 %r5, [%r2+4];
    ld.shared.u32 %r6, [%r2+8];
    st.global.v4.u32 [%a1], {%r3, %r4, %r5, %r6};)",
                       ".shared .align 16 .b8 box[512];\n"));
  Buffer<u32> out(256);
  for (u32 i = 0; i < 256; ++i) out[i] = 1000 + i;
  REQUIRE(!module.run("k", {1, 1, 1}, {32, 1, 1}, out.address()));
  for (u32 t = 0; t < 32; ++t) {
    const u32 copied = 1000 + 128 + t * 4;
    CHECK(out[t * 4] == copied);                     // the older of two groups, waited for
    CHECK(out[t * 4 + 1] == t);                      // the newer: not yet
    CHECK(out[t * 4 + 2] == (t < 16 ? 0 : copied));  // then it is; nothing was read where the predicate holds
    CHECK(out[t * 4 + 3] == t);                      // never committed
  }
}

TEST_CASE("A bulk copy is complete when its mbarrier is, and reads shared memory as late as allowed") {
  Module module(kernel(R"(
    mov.u32 %r1, barrier;
    mov.u32 %r2, box;
    setp.ne.u32 %p1, %t, 0;
    @%p1 bra END;
    st.shared.u32 [%r2], 7;
    mbarrier.init.shared.b64 [%r1], 1;
    mbarrier.arrive.expect_tx.shared.b64 %a1, [%r1], 16;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%out+16], 16, [%r1];
    ld.shared.u32 %r3, [%r2];
    mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;
    ld.shared.u32 %r4, [%r2];
    st.global.v2.u32 [%out], {%r3, %r4};
    cp.async.bulk.global.shared::cta.bulk_group [%out+32], [%r2], 16;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
    st.shared.u32 [%r2], 8;
    cp.async.bulk.global.shared::cta.bulk_group [%out+48], [%r2], 16;
    cp.async.bulk.commit_group;
    st.shared.u32 [%r2], 9;
  END:)",
                       ".shared .align 8 .b8 barrier[8];\n.shared .align 16 .b8 box[128];\n"));
  Buffer<u32> out(64);
  for (u32 i = 0; i < 64; ++i) out[i] = i;
  const auto fault = module.run("k", {1, 1, 1}, {32, 1, 1}, out.address());
  if (fault) UNSCOPED_INFO(fault->report);
  REQUIRE(!fault.has_value());
  CHECK(out[0] == 7);
  CHECK(out[1] == 4);
  CHECK(out[8] == 4);
  CHECK(out[12] == 9);  // not waited for: what came later was copied
}

TEST_CASE(
    "An arrival at an mbarrier that is not initialized, or no longer valid, is a fault whose report names the cause") {
  for (const char* before : {"", "mbarrier.init.shared.b64 [%r1], 32;\nmbarrier.inval.shared.b64 [%r1];"}) {
    Module module(kernel(std::string("mov.u32 %r1, barrier;\nst.shared.u64 [%r1], 0;\n") + before +
                             "\nmbarrier.arrive.shared.b64 %a1, [%r1];",
                         ".shared .align 8 .b8 barrier[8];\n"));
    Buffer<u32> out(32);
    const auto fault = module.run("k", {1, 1, 1}, {32, 1, 1}, out.address());
    REQUIRE(fault.has_value());
    CHECK(fault->kind == FaultKind::illegal_instruction);
    CHECK(fault->report.find("initialized") != std::string::npos);
  }
}

TEST_CASE("A bulk reduction combines what is there with what comes") {
  Module module(kernel(R"(
    mov.u32 %r1, barrier;
    mov.u32 %r2, box;
    setp.ne.u32 %p1, %t, 0;
    @%p1 bra END;
    st.shared.v4.u32 [%r2], {1, 2, 3, 4};
    st.shared.v4.u32 [%r2+16], {10, 20, 30, 40};
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [%r2], 16;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%out+16], [%r2], 16;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    mbarrier.init.shared.b64 [%r1], 1;
    mbarrier.arrive.expect_tx.shared.b64 %a1, [%r1], 16;
    cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.xor.b32 [%r2], [%r2+16], 16, [%r1];
    mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;
    ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2];
    st.global.v4.u32 [%out+32], {%r3, %r4, %r5, %r6};
  END:)",
                       ".shared .align 8 .b8 barrier[8];\n.shared .align 16 .b8 box[32];\n"));
  Buffer<u32> out(64);
  Launch launch = module.launch("k", {1, 1, 1}, {32, 1, 1}, out.address());
  const auto alone = run(launch);
  REQUIRE(alone.has_value());
  CHECK(alone->what.find("launch without clusters") != std::string::npos);
  launch.explicit_cluster = true;
  for (u32 i = 0; i < 64; ++i) out[i] = 2;
  const auto fault = run(launch);
  if (fault) UNSCOPED_INFO(fault->report);
  REQUIRE(!fault.has_value());
  for (u32 i = 0; i < 4; ++i) {
    CHECK(out[i] == i + 3);
    CHECK(out[4 + i] == std::max(i + 1, 2u));
    CHECK(out[8 + i] == ((i + 1) ^ (i + 1) * 10));
  }
}

TEST_CASE("An mbarrier's phase ends with the last arrival, and waiting threads go on") {
  Module module(kernel(R"(
    mov.u32 %r1, barrier;
    setp.eq.u32 %p1, %t, 0;
    @%p1 mbarrier.init.shared.b64 [%r1], 64;
    bar.sync 0;
    setp.lt.u32 %p1, %t, 32;
    @%p1 bra LOW;
    mov.u32 %r2, box;
    mad.lo.u32 %r2, %t, 4, %r2;
    st.shared.u32 [%r2], %t;
  LOW:
    mbarrier.arrive.shared.b64 %a1, [%r1];
  WAIT:
    mbarrier.try_wait.shared.b64 %p2, [%r1], %a1;
    @!%p2 bra WAIT;
    xor.b32 %r3, %t, 32;
    or.b32 %r3, %r3, 32;
    mov.u32 %r2, box;
    mad.lo.u32 %r2, %r3, 4, %r2;
    ld.shared.u32 %r4, [%r2];
    st.global.u32 [%slot], %r4;
    mbarrier.test_wait.parity.shared.b64 %p3, [%r1], 0;
    mbarrier.test_wait.parity.shared.b64 %p4, [%r1], 1;
    @!%p3 st.global.u32 [%slot], 1000;
    @%p4 st.global.u32 [%slot], 2000;)",
                       ".shared .align 8 .b8 barrier[8];\n.shared .align 4 .b8 box[256];\n"));
  Buffer<u32> out(64);
  const auto fault = module.run("k", {1, 1, 1}, {64, 1, 1}, out.address());
  if (fault) UNSCOPED_INFO(fault->report);
  REQUIRE(!fault.has_value());
  for (u32 i = 0; i < 64; ++i) CHECK(out[i] == (i < 32 ? i + 32 : ((i ^ 32) | 32)));
}

TEST_CASE("A bulk copy counts its bytes on the mbarrier that waits for them") {
  Module module(kernel(R"(
    mov.u32 %r1, barrier;
    mov.u32 %r2, box;
    setp.ne.u32 %p1, %t, 0;
    @%p1 bra WAIT;
    mbarrier.init.shared.b64 [%r1], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared.b64 %a1, [%r1], 128;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%out+128], 128, [%r1];
  WAIT:
    bar.sync 0;
  AGAIN:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;
    @!%p2 bra AGAIN;
    mad.lo.u32 %r2, %t, 4, %r2;
    ld.shared.u32 %r3, [%r2];
    st.global.u32 [%slot], %r3;)",
                       ".shared .align 8 .b8 barrier[8];\n.shared .align 16 .b8 box[128];\n"));
  Buffer<u32> out(64);
  for (u32 i = 0; i < 64; ++i) out[i] = i;
  const auto fault = module.run("k", {1, 1, 1}, {32, 1, 1}, out.address());
  if (fault) UNSCOPED_INFO(fault->report);
  REQUIRE(!fault.has_value());
  for (u32 i = 0; i < 32; ++i) CHECK(out[i] == i + 32);
}

TEST_CASE("Blocks of a cluster read each other's shared memory between the cluster's barriers") {
  Module module(kernel(R"(
    mov.u32 %r1, %cluster_ctarank;
    mad.lo.u32 %r2, %r1, 100, %t;
    mov.u32 %r3, box;
    mad.lo.u32 %r4, %t, 4, %r3;
    st.shared.u32 [%r4], %r2;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    mov.u32 %r5, %cluster_nctarank;
    add.u32 %r6, %r1, 1;
    rem.u32 %r6, %r6, %r5;
    mapa.shared::cluster.u32 %r7, %r4, %r6;
    ld.shared::cluster.u32 %r8, [%r7];
    getctarank.shared::cluster.u32 %r9, %r7;
    mad.lo.u32 %r8, %r9, 10000, %r8;
    mov.u32 %r10, %ctaid.x;
    mad.lo.u32 %r10, %r10, 32, %t;
    mad.wide.u32 %slot, %r10, 4, %out;
    st.global.u32 [%slot], %r8;
    cvta.shared::cta.u64 %a1, 0;
    barrier.cluster.arrive;
    barrier.cluster.wait;)",
                       ".shared .align 4 .b8 box[128];\n"));
  Buffer<u32> out(32 * 8);
  Launch launch = module.launch("k", {8, 1, 1}, {32, 1, 1}, out.address());
  launch.cluster = {4, 1, 1};
  const auto fault = run(launch);
  if (fault) UNSCOPED_INFO(fault->report);
  REQUIRE(!fault.has_value());
  for (u32 i = 0; i < 256; ++i) {
    const u32 other = (i / 32 + 1) % 4;
    CHECK(out[i] == other * 10100 + i % 32);
  }
}

TEST_CASE("An instruction for shared::cta memory does not reach another block of the cluster") {
  for (const char* address : {"mapa.shared::cluster.u32 %r4, %r3, 0;", "and.b32 %r4, %r3, 0xffffff;"}) {
    Module module(kernel(std::string("mov.u32 %r3, box;\n") + address + "\nld.shared.u32 %r5, [%r4];\n" +
                             "barrier.cluster.arrive;\nbarrier.cluster.wait;",
                         ".shared .align 4 .b8 box[128];\n"));
    Buffer<u32> out(32);
    Launch launch = module.launch("k", {2, 1, 1}, {32, 1, 1}, out.address());
    launch.cluster = {2, 1, 1};
    const auto fault = run(launch);
    REQUIRE(fault.has_value());
    CHECK(fault->kind == FaultKind::illegal_instruction);
    CHECK(fault->report.find("of another block of the cluster") != std::string::npos);
  }
}
