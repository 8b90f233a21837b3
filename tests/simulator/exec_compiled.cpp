// Compiled kernels: the same bits, the same faults and the same order as from the interpreter; and the cache.
#include "common/simulator/compile/build.hpp"
#include "common/simulator/compile/compiler.hpp"
#include "tests/simulator/exec_kernel.hpp"

#include <sys/stat.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace cudasim;
using namespace cudasim::testing;

namespace {

namespace fs = std::filesystem;

// A cache of its own for each test case.
class Cache {
 public:
  Cache() {
    std::string name = "/tmp/cudasim-compiled-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
    setenv("XDG_CACHE_HOME", name.c_str(), 1);
    compile::remember_environment();
  }
  ~Cache() {
    unsetenv("XDG_CACHE_HOME");
    fs::remove_all(path_);
  }
  fs::path folder() const { return path_ / "cudasim"; }
  std::vector<fs::path> libraries() const {
    std::vector<fs::path> all;
    for (const auto& each : fs::directory_iterator(folder())) all.push_back(each.path());
    return all;
  }

 private:
  fs::path path_;
};

struct Outcome {
  std::vector<u32> memory;
  std::string report;
};

// `in` has the numbers 0, 1, 2 … and is read only as far as `words`.
Outcome outcome(const Module& module, bool compiled, u32 words, Dim3 grid, Dim3 block) {
  Buffer<u32> out(words), in(words);
  for (u32 i = 0; i < words; ++i) in[i] = i * 2654435761u >> 7;
  Launch launch = module.launch("k", grid, block, out.address(), in.address());
  if (compiled) {
    launch.compile = compile_now;
    REQUIRE(compile_now(launch).code != nullptr);
  }
  const auto fault = run(launch);
  std::string report = fault ? fault->report : "";
  // The two runs have different addresses.
  if (const auto at = report.find("access"); at != report.npos) report.erase(at);
  return {out.all(), report};
}

std::string text_of(const std::string& body, const std::string& functions = "") {
  return kHeader + functions + R"(
.global .align 4 .u32 hits;
.visible .entry k(.param .u64 out, .param .u64 in) {
  .reg .u64 %out, %in, %slot, %from, %a<20>;
  .reg .u32 %t, %g, %r<40>;
  .reg .f32 %f<20>;
  .reg .pred %p<10>;
  .shared .align 16 .b32 tile[2048];
  ld.param.u64 %out, [out]; cvta.to.global.u64 %out, %out;
  ld.param.u64 %in, [in]; cvta.to.global.u64 %in, %in;
  mov.u32 %r0, %ntid.x; mov.u32 %r1, %tid.y; mov.u32 %t, %tid.x;
  mad.lo.u32 %t, %r1, %r0, %t;
  mov.u32 %r2, %ntid.y; mul.lo.u32 %r2, %r2, %r0; mov.u32 %r3, %ctaid.x;
  mad.lo.u32 %g, %r3, %r2, %t;
  mul.wide.u32 %slot, %g, 4; add.u64 %from, %in, %slot; add.u64 %slot, %out, %slot;
)" + body +
         "\n  ret;\n}\n";
}

struct Case {
  const char* name;
  const char* body;
  Dim3 block{64, 1, 1};
  const char* functions = "";
};

void check_same(const Case& each, u32 words = 4096) {
  CAPTURE(each.name);
  const Module module(text_of(each.body, each.functions));
  const Outcome expected = outcome(module, false, words, {3, 1, 1}, each.block),
                got = outcome(module, true, words, {3, 1, 1}, each.block);
  CHECK(got.memory == expected.memory);
  CHECK(got.report == expected.report);
}

}  // namespace

TEST_CASE("A compiled kernel leaves the bits that the interpreter leaves") {
  const Cache cache;
  const Case cases[] = {
      {"rows, and a warp that is not whole",
       "ld.global.u32 %r10, [%from]; ld.global.u32 %r11, [%from+4]; ld.global.u32 %r12, [%in+8];"
       "mad.lo.u32 %r10, %r10, %r11, %r12; cvt.rn.f32.u32 %f1, %r10; sqrt.rn.f32 %f1, %f1; div.rn.f32 %f1, %f1, "
       "0f40490fdb;"
       "setp.gt.f32 %p1, %f1, 0f45000000; selp.b32 %r11, %r10, %r11, %p1; @%p1 add.u32 %r11, %r11, 7;"
       "st.global.f32 [%slot], %f1; xor.b32 %r11, %r11, %t; st.global.u32 [%slot+4096], %r11;",
       {45, 1, 1}},
      {"addresses in no order, read and written, under a guard, too",
       "and.b32 %r10, %t, 31; xor.b32 %r10, %g, 21; mul.wide.u32 %a1, %r10, 4; add.u64 %a2, %in, %a1;"
       "ld.global.u32 %r11, [%a2]; and.b32 %r12, %r11, 1023; mul.wide.u32 %a3, %r12, 4; add.u64 %a3, %in, %a3;"
       "ld.global.u32 %r13, [%a3]; ld.global.u32 %r14, [%a3+8]; setp.lt.u32 %p1, %r12, 512; mov.u32 %r15, 3;"
       "@%p1 ld.global.u32 %r15, [%a3+4]; add.u32 %r13, %r13, %r14; add.u32 %r13, %r13, %r15; add.u64 %a4, %out, %a1;"
       "st.global.u32 [%a4], %r13; add.u64 %a3, %a3, %out; sub.u64 %a3, %a3, %in; @%p1 st.global.u32 [%a3+8192], "
       "%r12;"},
      {"a loop that lanes leave one after the other",
       "and.b32 %r10, %t, 15; mov.u32 %r11, 0; mov.u64 %a1, %from;"
       "AGAIN: ld.global.u32 %r12, [%a1]; ld.global.u32 %r13, [%a1+4]; mad.lo.u32 %r11, %r11, 3, %r12; xor.b32 %r11, "
       "%r11, %r13;"
       "add.u64 %a1, %a1, 8; sub.u32 %r10, %r10, 1; setp.gt.s32 %p1, %r10, 0; @%p1 bra AGAIN;"
       "popc.b32 %r12, %r11; rem.u32 %r13, %r11, 77; add.u32 %r12, %r12, %r13; st.global.u32 [%slot], %r12;"},
      {"barriers, and shared memory in rows and columns",
       "mov.u32 %r10, tile; shl.b32 %r11, %t, 2; add.u32 %r10, %r10, %r11; ld.global.u32 %r12, [%from]; st.shared.u32 "
       "[%r10], %r12;"
       "mov.u32 %r20, 1; STEP: bar.sync 0; shl.b32 %r21, %r20, 2; mov.u32 %r13, 0; setp.ge.u32 %p1, %t, %r20; sub.u32 "
       "%r14, %r10, %r21;"
       "@%p1 ld.shared.u32 %r13, [%r14]; bar.sync 0; add.u32 %r12, %r12, %r13; st.shared.u32 [%r10], %r12;"
       "shl.b32 %r20, %r20, 1; setp.lt.u32 %p2, %r20, 128; @%p2 bra STEP; st.global.u32 [%slot], %r12;",
       {128, 1, 1}},
      {"shuffles, votes and atomic additions",
       "ld.global.u32 %r10, [%from]; and.b32 %r10, %r10, 255; shfl.sync.bfly.b32 %r11, %r10, 3, 31, 0xffffffff; "
       "setp.gt.u32 %p1, %r10, %r11;"
       "vote.sync.ballot.b32 %r12, %p1, 0xffffffff; mul.wide.u32 %a1, %r10, 4; add.u64 %a1, %out, %a1; "
       "atom.global.add.u32 %r13, [%a1+8192], 1;"
       "redux.sync.add.s32 %r14, %r11, 0xffffffff; add.u32 %r12, %r12, %r14; st.global.u32 [%slot], %r12;"},
      {"vectors and small types in blocks of half and quarter rows",
       "shl.b32 %r10, %g, 4; and.b32 %r10, %r10, 4095; cvt.u64.u32 %a1, %r10; add.u64 %a1, %in, %a1; ld.global.v4.u32 "
       "{%r11, %r12, %r13, %r14}, [%a1];"
       "ld.global.u8 %r15, [%from+1]; ld.global.s16 %r16, [%from+2]; mad.lo.s32 %r11, %r11, %r12, %r13; add.s32 %r11, "
       "%r11, %r15;"
       "add.s32 %r11, %r11, %r16; sub.u64 %a1, %a1, %in; add.u64 %a1, %a1, %out; st.global.v2.u32 [%a1+8], {%r11, "
       "%r14}; st.global.u8 [%slot], %r16;",
       {8, 6, 1}},
      {"a function, local memory, and an indexed branch",
       "{ .local .align 4 .b32 own[4]; .reg .b32 %l; mov.u32 %l, own; and.b32 %r10, %t, 3; shl.b32 %r11, %r10, 2; "
       "add.u32 %l, %l, %r11;"
       "st.local.u32 [%l], %g; ld.local.u32 %r12, [%l]; } T: .branchtargets A, B, C; rem.u32 %r13, %t, 3; brx.idx "
       "%r13, T;"
       "A: add.u32 %r12, %r12, 5; bra D; B: mul.lo.u32 %r12, %r12, 7; bra D; C: xor.b32 %r12, %r12, 9; D: "
       "st.global.u32 [%slot], %r12;",
       {16, 4, 1}},
  };
  for (const Case& each : cases) check_same(each);
}

TEST_CASE("Compiled code uses the local memory of each thread") {
  const Cache cache;
  const Case cases[] = {
      {"a place that differs from lane to lane, and one that does not",
       "{ .local .align 16 .b32 own[16]; mov.u64 %a1, own; mov.u32 %r10, 0;"
       "FILL: mul.wide.u32 %a2, %r10, 4; add.u64 %a2, %a1, %a2; mad.lo.u32 %r11, %r10, %g, 5; st.local.u32 [%a2], %r11;"
       "add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 16; @%p1 bra FILL;"
       "ld.global.u32 %r12, [%from]; and.b32 %r12, %r12, 15; mul.wide.u32 %a2, %r12, 4; add.u64 %a2, %a1, %a2;"
       "ld.local.u32 %r13, [%a2]; ld.local.u32 %r14, [own+12]; ld.local.v2.u32 {%r15, %r16}, [own+32];"
       "setp.lt.u32 %p2, %r12, 9; @%p2 st.local.u8 [%a2+1], %r12; ld.local.u32 %r17, [%a2]; ld.local.s8 %r18, [%a2+1];"
       "add.u32 %r13, %r13, %r14; mad.lo.u32 %r13, %r15, %r16, %r13; xor.b32 %r17, %r17, %r18; add.u32 %r13, %r13, "
       "%r17;"
       "st.global.u32 [%slot], %r13; }",
       {45, 1, 1}},
      {"a sort that each lane ends after another number of steps",
       "{ .local .align 4 .b32 own[9]; mov.u64 %a1, own; mov.u32 %r10, 0;"
       "FILL: mul.wide.u32 %a2, %r10, 4; add.u64 %a3, %from, %a2; ld.global.u32 %r11, [%a3]; add.u64 %a2, %a1, %a2;"
       "mov.u32 %r12, %r10; BACK: setp.eq.u32 %p1, %r12, 0; @%p1 bra PUT; ld.local.u32 %r13, [%a2+-4];"
       "setp.le.u32 %p2, %r13, %r11; @%p2 bra PUT; st.local.u32 [%a2], %r13; sub.u64 %a2, %a2, 4;"
       "sub.u32 %r12, %r12, 1; bra BACK; PUT: st.local.u32 [%a2], %r11; add.u32 %r10, %r10, 1;"
       "setp.lt.u32 %p1, %r10, 9; @%p1 bra FILL; ld.local.u32 %r13, [own+16]; ld.local.u32 %r14, [own];"
       "mad.lo.u32 %r13, %r14, 3, %r13; st.global.u32 [%slot], %r13; }"},
      {"through generic addresses, some of which are of global memory",
       "{ .local .align 4 .b32 own[4]; cvta.local.u64 %a1, own; mov.u32 %r10, 0; st.local.u32 [own], %r10; and.b32 "
       "%r10, %t, 3; mul.wide.u32 %a2, %r10, 4;"
       "add.u64 %a2, %a1, %a2; st.u32 [%a2], %g; ld.u32 %r11, [%a2]; setp.lt.u32 %p1, %r10, 2; selp.b64 %a3, %a2, "
       "%from, %p1; ld.u32 %r12, [%a3]; setp.ne.u32 %p2, %t, 0; @%p2 ld.u32 %r12, [%a2]; mov.u32 %r13, 0;"
       "AGAIN: add.u64 %a3, %a1, 0; ld.u32 %r14, [%a3]; add.u32 %r14, %r14, %r13; st.u32 [%a3], %r14;"
       "add.u32 %r13, %r13, 1; setp.le.u32 %p3, %r13, %r10; @%p3 bra AGAIN; ld.local.u32 %r14, [own];"
       "mad.lo.u32 %r11, %r11, 3, %r12; add.u32 %r11, %r11, %r14; st.global.u32 [%slot], %r11; }",
       {45, 1, 1}},
      {"past its end",
       "{ .local .align 4 .b32 own[9]; mov.u64 %a1, own; and.b32 %r10, %t, 15; mul.wide.u32 %a2, %r10, 4;"
       "add.u64 %a2, %a1, %a2; st.global.u32 [%slot], %r10; st.local.u32 [%a2], %r10; st.global.u32 [%slot], %t; }"},
  };
  for (const Case& each : cases) check_same(each);
}

TEST_CASE("Functions that a compiled kernel calls are compiled, too") {
  const Cache cache;
  constexpr const char* kFunctions = R"(
.func (.param .b32 result) steps(.param .b32 n) {  // lanes leave early, and one after the other
  .reg .u32 %n, %k, %odd; .reg .pred %p;
  ld.param.u32 %n, [n]; mov.u32 %k, 0;
  setp.eq.u32 %p, %n, 0; @%p bra END;
AGAIN: setp.le.u32 %p, %n, 1; @%p bra END;
  and.b32 %odd, %n, 1; shr.u32 %n, %n, 1; mad.lo.u32 %n, %odd, 3, %n; add.u32 %k, %k, 1;
  setp.lt.u32 %p, %k, 40; @%p bra AGAIN;
END: st.param.b32 [result], %k; ret;
}
.func (.reg .u32 %result) sum(.reg .u32 %n) {  // a recursion
  .reg .u32 %m, %k; .reg .pred %p;
  mov.u32 %result, %n; setp.lt.u32 %p, %n, 2; @%p bra END;
  sub.u32 %m, %n, 1; call (%k), sum, (%m);
  sub.u32 %m, %n, 2; call (%m), sum, (%m);
  add.u32 %result, %k, %m;
END: ret;
}
.func (.reg .u32 %result) twice(.reg .u32 %n) { add.u32 %result, %n, %n; ret; }
)";
  const Case cases[] = {
      {"one by its name",
       "{ .param .b32 a; .param .b32 b; ld.global.u32 %r10, [%from]; and.b32 %r10, %r10, 1023; st.param.b32 [a], %r10;"
       "call (b), steps, (a); ld.param.b32 %r11, [b]; mad.lo.u32 %r11, %r10, 7, %r11; st.global.u32 [%slot], %r11; }",
       {45, 1, 1},
       kFunctions},
      {"one by some lanes, again and again",
       "mov.u32 %r12, 0; and.b32 %r10, %t, 7; AGAIN: setp.gt.u32 %p1, %r10, 2; @!%p1 bra SKIP; call (%r11), sum, "
       "(%r10);"
       "add.u32 %r12, %r12, %r11; SKIP: add.u32 %r12, %r12, 1; add.u32 %r10, %r10, 2; setp.lt.u32 %p2, %r10, 9;"
       "@%p2 bra AGAIN; st.global.u32 [%slot], %r12;",
       {64, 1, 1},
       kFunctions},
      {"others through a pointer",
       "and.b32 %r10, %t, 3; setp.eq.u32 %p1, %r10, 1; mov.u64 %a1, sum; mov.u64 %a2, twice; selp.b64 %a1, %a1, %a2, "
       "%p1; add.u32 %r10, %r10, 5; P: .callprototype (.reg .u32 _) _ (.reg .u32 _); call (%r11), %a1, (%r10), P;"
       "st.global.u32 [%slot], %r11;",
       {64, 1, 1},
       kFunctions},
  };
  for (const Case& each : cases) check_same(each);
  CHECK(cache.libraries().size() == 6);  // three kernels and three functions
}

// Each result goes into a sum; the sources are random bits, numbers of all sizes, and what is beyond integers.
std::string conversions() {
  std::string all =
      "mov.u64 %a9, 0; mov.u32 %r10, 0; ld.global.u32 %r11, [%from]; .reg .u16 %h; .reg .f64 %d<3>; .reg .b16 %h2; "
      ".reg .b32 %w;"
      "AGAIN: mad.lo.u32 %r11, %r11, 1664525, 1013904223; mul.wide.u32 %a1, %r11, 0x9e3779b1; xor.b32 %r12, %r11, %g;"
      "mov.b64 %d1, %a1; mov.b32 %f1, %r12; and.b32 %r13, %r10, 1; setp.eq.u32 %p1, %r13, 1;"
      "shr.s32 %r13, %r12, 3; cvt.rn.f32.s32 %f2, %r13; mul.f32 %f2, %f2, 0f41180000; selp.f32 %f1, %f2, %f1, %p1;"
      "cvt.f64.f32 %d2, %f2; mul.f64 %d2, %d2, 0d4009000000000000; selp.f64 %d1, %d2, %d1, %p1;"
      "setp.eq.u32 %p2, %r10, 7; @%p2 mov.f32 %f1, 0f7fc00000; @%p2 mov.f64 %d1, 0dfff8000000000001;"
      "cvt.u16.u32 %h, %r12;";
  const auto convert = [&all](const std::string& form, const std::string& to, const std::string& from) {
    all += "cvt." + form + " " + to + ", " + from + ";";
    if (to == "%a2") all += "mad.lo.u64 %a9, %a9, 31, %a2;";
    if (to == "%f3") all += "mov.b32 %r14, %f3; cvt.u64.u32 %a2, %r14; mad.lo.u64 %a9, %a9, 31, %a2;";
    if (to == "%d0") all += "mov.b64 %a2, %d0; mad.lo.u64 %a9, %a9, 31, %a2;";
    if (to == "%r14" || to == "%w") all += "cvt.u64.u32 %a2, " + to + "; mad.lo.u64 %a9, %a9, 31, %a2;";
    if (to == "%h2") all += "cvt.u64.u16 %a2, %h2; mad.lo.u64 %a9, %a9, 31, %a2;";
  };
  for (const std::string mode : {"rni", "rzi", "rmi", "rpi"}) {
    for (const std::string to : {"s32", "u32", "s64", "u64"}) {
      const std::string result = to[1] == '3' ? "%r14" : "%a2";
      convert(mode + "." + to + ".f32", result, "%f1");
      convert(mode + ".ftz." + to + ".f32", result, "%f1");
      convert(mode + "." + to + ".f64", result, "%d1");
    }
    convert(mode + ".f32.f32", "%f3", "%f1");
    convert(mode + ".ftz.f32.f32", "%f3", "%f1");
    convert(mode + ".f64.f64", "%d0", "%d1");
  }
  for (const std::string from : {"s8", "u8", "s16", "u16"}) {
    convert("rn.f32." + from, "%f3", "%h");
    convert("rn.f64." + from, "%d0", "%r12");
  }
  for (const std::string from : {"s32", "u32"}) convert("rn.f32." + from, "%f3", "%r12");
  for (const std::string from : {"s64", "u64"}) {
    convert("rn.f32." + from, "%f3", "%a1");
    convert("rn.f64." + from, "%d0", "%a1");
  }
  convert("f64.f32", "%d0", "%f1");
  convert("ftz.f64.f32", "%d0", "%f1");
  convert("rn.f32.f64", "%f3", "%d1");
  convert("rn.ftz.f32.f64", "%f3", "%d1");
  convert("rn.f16.s32", "%h2", "%r12");
  convert("rn.f16x2.f32", "%w", "%f1, %f2");
  return all +
         "prmt.b32 %r14, %r12, %r11, 0x3b5e; prmt.b32 %r15, %r12, %r11, %r10; bfi.b32 %r14, %r14, %r15, 5, 11;"
         "prmt.b32.f4e %r15, %r12, %r11, %r10; dp4a.s32.u32 %r14, %r12, %r14, %r15; dp2a.lo.s32.s32 %r14, %r14, %r12, "
         "7;"
         "cvt.u64.u32 %a2, %r14; mad.lo.u64 %a9, %a9, 31, %a2; add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 40; @%p3 "
         "bra AGAIN; shr.u64 %a1, %a9, 32; cvt.u32.u64 %r10, %a9; cvt.u32.u64 %r11, %a1; xor.b32 %r10, %r10, %r11;"
         "st.global.u32 [%slot], %r10;";
}

TEST_CASE("Compiled conversions leave the bits that the interpreter leaves") {
  const Cache cache;
  const std::string body = conversions();
  check_same({"many of them", body.c_str(), {96, 1, 1}});
}

TEST_CASE("A compiled kernel faults where the interpreter does") {
  const Cache cache;
  const Case cases[] = {
      {"a row that ends beyond the allocation",
       "add.u64 %a1, %from, 15900; ld.global.u32 %r10, [%a1]; st.global.u32 [%slot], %r10;"},
      {"one address in no order",
       "mov.u32 %r10, %g; setp.eq.u32 %p1, %t, 37; @%p1 mov.u32 %r10, 5000; xor.b32 %r10, %r10, 1; mul.wide.u32 %a1, "
       "%r10, 4; add.u64 %a1, %in, %a1;"
       "ld.global.u32 %r11, [%from]; ld.global.u32 %r12, [%a1]; add.u32 %r11, %r11, %r12; st.global.u32 [%slot], "
       "%r11;"},
      {"a misaligned address",
       "setp.eq.u32 %p1, %t, 5; mov.u64 %a1, %from; @%p1 add.u64 %a1, %a1, 2; st.global.u32 [%slot], %t; ld.global.u32 "
       "%r10, [%a1];"
       "st.global.u32 [%slot], %r10;"},
      {"shared memory",
       "mov.u32 %r10, tile; mad.lo.u32 %r10, %t, 132, %r10; st.shared.u32 [%r10], %t; ld.shared.u32 %r11, [%r10]; "
       "st.global.u32 [%slot], %r11;"},
  };
  for (const Case& each : cases) check_same(each);
}

TEST_CASE("Compiled kernels are kept in a folder that is the user's own, and made again if they are damaged") {
  const Cache cache;
  const compile::Source source{"k",
                               "extern \"C\" const bool begins[] = {1};\nconstexpr unsigned kRows = 1;\nconstexpr "
                               "unsigned long kLocalWindow = 0, kWindowBytes = 0;\n#include \"cudasim.hpp\"\nusing "
                               "namespace cudasim;\n"
                               "extern \"C\" Left together(WarpState&, i64&, const SharedRange&, const LocalRange&, "
                               "bool) { return Left::careful; }\n"
                               "extern \"C\" Left apart(WarpState&, i64&, const SharedRange&, const LocalRange&, bool) "
                               "{ return Left::careful; }\n"};
  const auto made = compile::make(source);
  REQUIRE(made.has_value());
  struct stat status{};
  REQUIRE(stat(cache.folder().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
  REQUIRE(cache.libraries() == std::vector<fs::path>{*made});
  CHECK(compile::is_whole(*made));
  const auto size = fs::file_size(*made);
  fs::resize_file(*made, size / 2);
  CHECK_FALSE(compile::is_whole(*made));
  REQUIRE(compile::make(source) == made);
  CHECK(fs::file_size(*made) == size);
}

TEST_CASE("A folder that others can write to is not trusted, and a kernel without a cache is interpreted") {
  const Cache cache;
  setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
  compile::remember_environment();
  CHECK_FALSE(compile::make({"k", "int x;"}).has_value());
  setenv("XDG_CACHE_HOME", cache.folder().parent_path().c_str(), 1);
  compile::remember_environment();
  fs::create_directory_symlink("/tmp", cache.folder());
  CHECK_FALSE(compile::make({"k", "int x;"}).has_value());
}

TEST_CASE("Faults and the heap of kernels are the same through the driver API if each kernel is compiled") {
  if (!fs::exists("build/tests/conformance/check")) SKIP_TEST("the conformance suite has not been built");
  const Cache cache;
  const std::string said = (cache.folder().parent_path() / "said").string();
  const std::string command =
      "CUDASIM_COMPILE=now,keep=" + cache.folder().string() +
      "-code LD_LIBRARY_PATH=build/simulator build/tests/conformance/check '[fault],[heap]' >'" + said + "' 2>&1";
  const int status = std::system(command.c_str());
  std::ostringstream text;
  text << std::ifstream(said).rdbuf();
  INFO(text.str());
  CHECK(status == 0);
  CHECK(text.str().find("was not compiled") == std::string::npos);
  CHECK(cache.libraries().size() > 10);
}
