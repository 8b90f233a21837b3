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
    REQUIRE(compile_now(launch) != nullptr);
  }
  const auto fault = run(launch);
  std::string report = fault ? fault->report : "";
  // The two runs have different addresses.
  if (const auto at = report.find("access"); at != report.npos) report.erase(at);
  return {out.all(), report};
}

std::string text_of(const std::string& body) {
  return kHeader + R"(
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
};

void check_same(const Case& each, u32 words = 4096) {
  CAPTURE(each.name);
  const Module module(text_of(each.body));
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
  const compile::Source source{
      "k",
      "extern \"C\" const bool begins[] = {1};\nconstexpr unsigned kRows = 1;\n#include \"cudasim.hpp\"\nusing "
      "namespace cudasim;\n"
      "extern \"C\" Left together(WarpState&, i64&, const SharedRange&, bool) { return Left::careful; }\n"
      "extern \"C\" Left apart(WarpState&, i64&, const SharedRange&, bool) { return Left::careful; }\n"};
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
