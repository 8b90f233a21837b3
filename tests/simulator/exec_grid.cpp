// Grids: many at a time, big ones, cooperative ones, cancelled ones.
#include "tests/simulator/exec_kernel.hpp"

#include <thread>

using namespace cudasim;
using namespace cudasim::testing;

TEST_CASE("Grids that several threads run at the same time do not disturb each other") {
  Module module(kernel(R"(
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mad.lo.u32 %r1, %r1, %r2, %t;
    mad.wide.u32 %slot, %r1, 4, %out;
    mov.u32 %r3, 0;
  LOOP:
    add.u32 %r4, %r4, %r3;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, 50;
    @%p1 bra LOOP;
    ld.global.u32 %r5, [%slot];
    add.u32 %r5, %r5, %r1;
    st.global.u32 [%slot], %r5;
    red.global.add.u32 [%out+40000], 1;)"));
  constexpr u32 kThreads = 4, kGrids = 20, kBlocks = 78, kLanes = 128;
  std::vector<std::unique_ptr<Buffer<u32>>> outs;
  for (u32 i = 0; i < kThreads; ++i) outs.push_back(std::make_unique<Buffer<u32>>(10001));
  std::vector<u32> faults(kThreads);
  std::vector<std::thread> threads;
  for (u32 i = 0; i < kThreads; ++i) {
    const Launch launch = module.launch("k", {kBlocks, 1, 1}, {kLanes, 1, 1}, outs[i]->address());
    threads.emplace_back([&faults, launch, i] {
      for (u32 g = 0; g < kGrids; ++g) faults[i] += run(launch).has_value();
    });
  }
  for (auto& thread : threads) thread.join();
  for (u32 i = 0; i < kThreads; ++i) {
    CHECK(faults[i] == 0);
    bool all = true;
    for (u32 n = 0; n < kBlocks * kLanes; ++n) all &= (*outs[i])[n] == n * kGrids;
    CHECK(all);
    CHECK((*outs[i])[10000] == kBlocks * kLanes * kGrids);
  }
}

TEST_CASE("Blocks that a thread has taken together may wait for each other") {
  // The block %r2, of one thread, waits until the block `first` has been there.
  Module module(kernel(R"(
    mov.u32 %r1, %ctaid.x;
    ld.global.u32 %r2, [%out+8];
    ld.global.u32 %r3, [%out+12];
    setp.eq.u32 %p1, %r1, %r3;
    @%p1 st.volatile.global.u32 [%out+4], 1;
    setp.ne.u32 %p2, %r1, %r2;
    @%p2 bra GO;
  WAIT:
    ld.volatile.global.u32 %r4, [%out+4];
    setp.eq.u32 %p3, %r4, 0;
    @%p3 bra WAIT;
  GO:
    red.global.add.u32 [%out], 1;)"));
  constexpr u32 kBlocks = 4096;
  const u32 pairs[][2] = {{0, 1}, {100, 101}, {100, kBlocks - 1}, {kBlocks / 2, kBlocks / 2 + 1}, {3000, 3999}, {1, 0}};
  for (const auto& [waits, first] : pairs) {
    CAPTURE(waits, first);
    Buffer<u32> out(4);
    out[0] = out[1] = 0;
    out[2] = waits;
    out[3] = first;
    REQUIRE(!run(module.launch("k", {kBlocks, 1, 1}, {1, 1, 1}, out.address())));
    CHECK(out[0] == kBlocks);
  }
}

TEST_CASE("Every block runs once, however much more than the first ones the later ones cost") {
  Module module(kernel(R"(
    mov.u32 %r1, %ctaid.x;
    mad.wide.u32 %slot, %r1, 4, %out;
    mov.u32 %r2, 0;
    setp.lt.u32 %p1, %r1, 400;
    @%p1 bra COUNT;
  LOOP:
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p2, %r2, 9000;
    @%p2 bra LOOP;
  COUNT:
    red.global.add.u32 [%slot], 1;)"));
  constexpr u32 kBlocks = 1000;
  Buffer<u32> out(kBlocks);
  REQUIRE(!run(module.launch("k", {kBlocks, 1, 1}, {1, 1, 1}, out.address())));
  CHECK(out.all() == std::vector<u32>(kBlocks, 1));
}

TEST_CASE("All blocks of a cooperative grid meet at a barrier made of atomics, again and again") {
  Module module(kernel(R"(
    mov.u32 %r1, %nctaid.x;
    mov.u32 %r2, 0;
  ROUND:
    bar.sync 0;
    setp.ne.u32 %p1, %t, 0;
    @%p1 bra PASSED;
    mad.lo.u32 %r3, %r2, %r1, %r1;
    membar.gl;
    atom.global.add.u32 %r4, [%out], 1;
  WAIT:
    ld.acquire.gpu.global.u32 %r4, [%out];
    setp.lt.u32 %p2, %r4, %r3;
    @%p2 bra WAIT;
  PASSED:
    bar.sync 0;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p3, %r2, 5;
    @%p3 bra ROUND;)"));
  Buffer<u32> out(1);
  Launch launch = module.launch("k", {200, 1, 1}, {64, 1, 1}, out.address());
  launch.cooperative = true;
  REQUIRE(!run(launch));
  CHECK(out[0] == 1000);
}

TEST_CASE("A kernel that waits for the host goes on when the host has written") {
  Module module(kernel(R"(
  WAIT:
    ld.volatile.global.u32 %r1, [%out];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra WAIT;
    st.global.u32 [%out+4], %r1;)"));
  Buffer<u32> out(2);
  const Launch launch = module.launch("k", {1, 1, 1}, {32, 1, 1}, out.address());
  std::thread host([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    __atomic_store_n(&out[0], 7, __ATOMIC_RELEASE);
  });
  const auto fault = run(launch);
  host.join();
  CHECK(!fault.has_value());
  CHECK(out[1] == 7);
}

TEST_CASE("A grid whose context is destroyed stops soon, without a fault") {
  Module module(kernel("WAIT: ld.volatile.global.u32 %r1, [%out]; setp.eq.u32 %p1, %r1, 0; @%p1 bra WAIT;"));
  Buffer<u32> out(1);
  std::atomic<bool> cancelled{false};
  Launch launch = module.launch("k", {4, 1, 1}, {32, 1, 1}, out.address());
  launch.cancelled = &cancelled;
  std::thread host([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    cancelled = true;
  });
  CHECK(!run(launch).has_value());
  host.join();
}

TEST_CASE("A kernel that only sleeps is stopped by the budget, too") {
  setenv("CUDASIM_BUDGET", "100000", 1);
  Module module(kernel("WAIT: nanosleep.u32 100; bra WAIT;"));
  Buffer<u32> out(1);
  const auto fault = module.run("k", {1, 1, 1}, {32, 1, 1}, out.address());
  unsetenv("CUDASIM_BUDGET");
  REQUIRE(fault.has_value());
  CHECK(fault->kind == FaultKind::timeout);
}

TEST_CASE("Blocks that all wait for one another are stopped by the clock, however little they run") {
  setenv("CUDASIM_BUDGET", "100000000", 1);  // a second's worth
  Module module(
      kernel("WAIT: nanosleep.u32 100; ld.acquire.gpu.global.u32 %r1, [%out]; setp.eq.u32 %p1, %r1, 0;"
             "@%p1 bra WAIT;"));
  Buffer<u32> out(1);
  const auto fault = module.run("k", {300, 1, 1}, {32, 1, 1}, out.address());
  unsetenv("CUDASIM_BUDGET");
  REQUIRE(fault.has_value());
  CHECK(fault->kind == FaultKind::timeout);
  const bool by_clock = fault->what.find("none has made progress for 1 s") != std::string::npos;
  const bool by_count = fault->what.find("instructions have run") != std::string::npos;  // on a machine that is quicker
  CHECK((by_clock || by_count));
}

TEST_CASE("Memory released while a grid runs stays mapped until the grid has ended") {
  AddressSpace& space = AddressSpace::instance();
  Allocation wanted;
  wanted.size = 4096;
  const auto allocation = space.allocate(wanted, 256, false);
  std::byte* const host = allocation->host;
  {
    const AddressSpace::Hold hold;
    REQUIRE(space.release(allocation->base, "cuMemFree"));
    CHECK(space.find(allocation->base) == nullptr);
    CHECK(host[100] == std::byte{AddressSpace::kJunk});  // under AddressSanitizer: still there
  }
  CHECK_FALSE(space.release(allocation->base));
}
