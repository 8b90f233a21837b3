// Whole texts as old compilers, books and other front ends wrote them: what they compute on an H200, and what its
// driver refuses of the same kind.
#include "tests/catch.hpp"
#include "tests/instructions/device.hpp"

#include <cstdint>

namespace {

using namespace instructions;
using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kUntouched = 0xeeeeeeee;

// Runs the kernel `k`, whose first parameter is where its results go; another one is 0.
Words run(const std::string& text, std::size_t words, unsigned threads) {
  std::string log;
  const CUmodule module = load(text, log);
  CHECK(log == "");
  Words got(words);
  if (module == nullptr) return got;
  CUfunction kernel = nullptr;
  CUdeviceptr outs[2] = {};  // one of the texts takes an array
  CUdeviceptr& out = outs[0];
  CU_CHECK(cuModuleGetFunction(&kernel, module, "k"));
  CU_CHECK(cuMemAlloc(&out, words * 4));
  CU_CHECK(cuMemsetD32(out, kUntouched, words));
  unsigned zero = 0;
  void* parameters[] = {outs, &zero};
  CU_CHECK(cuLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr));
  CU_CHECK(cuMemcpyDtoH(got.data(), out, words * 4));
  CU_CHECK(cuMemFree(out));
  CU_CHECK(cuModuleUnload(module));
  return got;
}

std::string kernel(const char* version, const char* target, const std::string& body, const std::string& before = "") {
  return std::string(".version ") + version + "\n.target " + target + "\n" + before +
         "\n.entry k (.param .u64 out)\n{\n.reg .u32 r<8>; .reg .s32 n<4>; .reg .u64 y, l<4>; .reg .f32 f<8>; "
         ".reg .f64 d<4>; .reg .pred p<2>; .reg .b16 h<4>; .reg .b32 w<4>; .reg .b64 b<4>; .reg .u16 us<4>;\n"
         "ld.param.u64 y, [out];\n" +
         body + "\nexit;\n}\n";
}

struct Case {
  const char* what;
  std::string text;
  Words results;
  unsigned threads = 1;
};

const char* const kArrays =
    ".shared .align 16 .b32 sh[8];\n.global .align 16 .b32 gl[8] = {10,11,12,13,14,15,16,17};\n"
    ".const .align 16 .b32 co[8] = {20,21,22,23,24,25,26,27};\n.global .v2 .b32 pairs[4];\n";

std::vector<Case> cases() {
  return {
      {"a kernel of CUDA 2, with its line numbers, its 16-bit indices and its flushing multiply and add",
       R"(
	.version 1.4
	.target sm_10, map_f64_to_f32
	.file	1	"<command-line>"
	.file	14	"vectorAdd.cu"
	.const .align 4 .b8 lut[16] = {1,0,0,0,2,0,0,0,3,0,0,0,4,0,0,0};
	.entry k (
		.param .u64 __cudaparm_k_out)
	{
	.reg .u16 %rh<4>;
	.reg .u32 %r<6>;
	.reg .u64 %rd<10>;
	.reg .f32 %f<5>;
	.reg .pred %p<3>;
	.loc	14	1	0
$LDWbegin_k:
	mov.u16 	%rh1, %ctaid.x;
	mov.u16 	%rh2, %ntid.x;
	mul.wide.u16 	%r1, %rh1, %rh2;
	cvt.u32.u16 	%r2, %tid.x;
	add.u32 	%r3, %r2, %r1;
	setp.le.s32 	%p1, 4, %r3;
	@%p1 bra 	$Lt_0_1026;
	.loc	14	10	0
	mul.wide.s32 	%rd2, %r3, 4;
	ld.param.u64 	%rd3, [__cudaparm_k_out];
	add.u64 	%rd4, %rd2, %rd3;
	cvt.rn.f32.s32 %f1, %r3;
	mov.f32 %f2, 0f3f000000;
	mad.f32 %f3, %f1, %f2, %f1;
	mov.u64 %rd5, lut;
	add.u64 %rd5, %rd5, %rd2;
	ld.const.u32 %r5, [%rd5+0];
	cvt.rn.f32.u32 %f2, %r5;
	add.f32 %f4, %f3, %f2;
	st.global.f32 	[%rd4+0], %f4;
$Lt_0_1026:
	.loc	14	12	0
	exit;
$LDWend_k:
	} // k
)",
       {0x3f800000, 0x40600000, 0x40c00000, 0x41080000, kUntouched, kUntouched},
       32},
      {"parameters between a kernel's braces, and functions that are approximate without saying so",
       R"(
	.version 1.2
	.target sm_10, map_f64_to_f32
	.entry k
	{
	.param .u64 out;
	.param .u32 unused;
	.reg .u32 $r<4>; .reg .u64 $rd<4>; .reg .f32 $f<8>;
	cvt.u32.u16 $r1, %tid.x;
	ld.param.u64 $rd1, [out];
	cvt.u64.u32 $rd2, $r1; mul.lo.u64 $rd2, $rd2, 4; add.u64 $rd1, $rd1, $rd2;
	mov.f32 $f2, 0f40800000;
	cvt.rn.f32.u32 $f1, $r1;
	mad.f32 $f3, $f1, $f2, $f2; div.f32 $f4, $f3, $f2; sqrt.f32 $f5, $f2; rcp.f32 $f6, $f2; rsqrt.f32 $f7, $f2;
	add.f32 $f4, $f4, $f5; add.f32 $f4, $f4, $f6; sub.f32 $f4, $f4, $f7;
	ex2.f32 $f5, $f1; add.f32 $f4, $f4, $f5; sin.f32 $f6, 0f00000000; cos.f32 $f7, 0f00000000; lg2.f32 $f5, $f2;
	add.f32 $f4, $f4, $f6; add.f32 $f4, $f4, $f7; add.f32 $f4, $f4, $f5;
	st.global.f32 [$rd1+0], $f4;
	exit;
	}
)",
       {0x40d80000, 0x410c0000, 0x413c0000, 0x41860000},
       4},
      {"shared memory, a barrier and atomic operations of sm_11",
       R"(
	.version 1.4
	.target sm_11
	.entry k (.param .u64 out)
	{
	.reg .u32 %r<16>; .reg .u64 %rd<10>;
	.shared .align 4 .b8 buf[128];
	cvt.u32.u16 %r1, %tid.x;
	mov.u64 %rd1, buf;
	cvt.u64.u32 %rd2, %r1; mul.lo.u64 %rd2, %rd2, 4; add.u64 %rd3, %rd1, %rd2;
	st.shared.u32 [%rd3+0], %r1;
	bar.sync 0;
	mov.s32 %r4, 3; sub.u32 %r4, %r4, %r1; cvt.u64.u32 %rd4, %r4; mul.lo.u64 %rd4, %rd4, 4; add.u64 %rd5, %rd1, %rd4;
	ld.shared.u32 %r5, [%rd5+0];
	mul24.lo.u32 %r6, %r5, 3;
	ld.param.u64 %rd6, [out]; add.u64 %rd7, %rd6, %rd2;
	atom.global.exch.b32 %r7, [%rd7], %r6;
	bar.sync 0;
	red.global.add.u32 [%rd6], 1;
	exit;
	}
)",
       {13, 6, 3, 0},
       4},
      {"sm_1x flushes subnormal numbers of single precision, but not what double precision is made of",
       kernel("1.4", "sm_10",
              "mov.u64 l0, y; st.global.u32 [l0+60], 0x007fffff; ld.volatile.global.f32 f0, [l0+60];\n"
              "mov.f32 f1, 0f00800000; mov.f32 f2, 0f3f000000; add.f32 f3, f0, f0; st.global.f32 [y], f3;\n"
              "mul.f32 f3, f1, f2; st.global.f32 [y+4], f3; mad.f32 f3, f0, f2, f0; st.global.f32 [y+8], f3;\n"
              "abs.f32 f3, f0; st.global.f32 [y+12], f3; neg.f32 f3, f0; st.global.f32 [y+16], f3;\n"
              "setp.gt.f32 p0, f0, 0f00000000; selp.u32 r0, 1, 0, p0; st.global.u32 [y+20], r0;\n"
              "max.f32 f3, f0, 0f00000000; st.global.f32 [y+24], f3; cvt.f64.f32 d0, f0; st.global.f64 [y+32], d0;\n"
              "rcp.approx.f32 f3, f0; st.global.f32 [y+40], f3; mov.f32 f3, f0; st.global.f32 [y+44], f3;"),
       {0, 0, 0, 0, 0x80000000, 0, 0, kUntouched, 0xc0000000, 0x380fffff, 0x7f800000, 0x007fffff, kUntouched,
        kUntouched, kUntouched, 0x007fffff}},
      {"a multiply and add without a rounding mode until PTX ISA 3",
       kernel("3.1", "sm_35",
              "mov.f32 f0, 0f3f800001; mov.f32 f1, 0fbf800002; mad.f32 f2, f0, f0, f1; st.global.f32 [y], f2;",
              ".address_size 64\n"),
       {0x28800000}},
      {"declarations of functions that end without a semicolon",
       kernel("2.0", "sm_20", "call (r0), f, (5); st.global.u32 [y], r0; call g; ",
              ".func (.reg .u32 o) f (.reg .u32 i)\n.func g\n.global .u32 apart;\n"
              ".func (.reg .u32 o) f (.reg .u32 i) { add.u32 o, i, 1; ret; }\n.func g { ret; }\n"),
       {6}},
      {"the constant bank that constants are in, by its number",
       kernel("2.1", "sm_20", "ld.const[0].u32 r0, [zero+4]; st.global.u32 [y], r0;",
              ".const[0] .u32 zero[2] = {3, 4};"),
       {4}},
      {"lines of a C preprocessor",
       kernel("7.0", "sm_75", "# 12 \"b.cuh\" 1\nst.global.u32 [y], 3;\n  # 2 \"a.cu\"\n"),
       {3}},
      {"an element of an array, whose number is in a register",
       kernel(
           "7.0", "sm_75",
           "mov.u64 l0, 2; ld.global.u32 r0, gl[l0]; st.global.u32 [y], r0; mov.u32 r1, 3; ld.const.u32 r0, co[r1];\n"
           "st.global.u32 [y+4], r0; st.shared.u32 sh[r1], 99; ld.shared.u32 r0, [sh+12]; st.global.u32 [y+8], r0;\n"
           "ld.u32 r0, gl[l0]; st.global.u32 [y+12], r0; mov.u64 l1, gl; mov.u64 l2, gl[r1]; sub.u64 l2, l2, l1;\n"
           "st.global.u64 [y+16], l2; ld.global.u32 r0, gl[l0+1]; st.global.u32 [y+24], r0;\n"
           "mov.u64 l1, pairs; mov.u64 l2, pairs[r1]; sub.u64 l2, l2, l1; st.global.u64 [y+32], l2;",
           kArrays),
       {12, 23, 99, 12, 12, 0, 13, kUntouched, 12, 0}},
      {"a function out of a table, as Dr.Jit calls it",
       kernel("7.0", "sm_75",
              "type: .callprototype (.param .b32 _) _ (.param .b32 _); mov.u32 r1, 1; ld.global.u64 l0, table[r1];\n"
              "{ .param .b32 o; .param .b32 i; st.param.b32 [i], 5; call (o), l0, (i), type; ld.param.b32 w0, [o]; }\n"
              "st.global.b32 [y], w0;",
              ".func (.param .b32 o) one(.param .b32 i) { .reg .b32 a; ld.param.b32 a, [i]; add.u32 a, a, 1; "
              "st.param.b32 [o], a; ret; }\n"
              ".func (.param .b32 o) ten(.param .b32 i) { .reg .b32 a; ld.param.b32 a, [i]; add.u32 a, a, 10; "
              "st.param.b32 [o], a; ret; }\n"
              ".global .u64 table[2] = {one, ten};\n"),
       {15}},
      {"sums of registers and numbers where a register is expected",
       kernel("7.0", "sm_75",
              "mov.u32 r0, 41; st.global.u32 [y], r0+1; st.global.u32 [y+4], r0+-1; mov.u32 r1, r0+1; st.global.u32 "
              "[y+8], r1;\n"
              "add.u32 r1, r0, r0+1; st.global.u32 [y+12], r1; mov.u64 l0, 41; st.global.u64 [y+16], l0+1;\n"
              "mov.u16 us0, 41; st.global.u16 [y+24], us0+1; st.global.u32 [y+28], 3+4*2;"),
       {42, 40, 42, 83, 42, 0, 0xeeee002a, 11}},
      {"vectors as parameters, results and whole values",
       kernel("7.0", "sm_75",
              ".reg .v2 .u32 a; .reg .v4 .u32 q; mov.u32 a.x, 1; mov.u32 a.y, 2; call (a), swap, (a); st.global.u32 "
              "[y], a.x;\n"
              "st.global.u32 [y+4], a.y; mov.b64 b0, a; st.global.b64 [y+8], b0; mov.u32 q.x, 5; mov.u32 q.y, 6; "
              "mov.u32 q.z, 7;\n"
              "mov.u32 q.w, 8; call (q), turn, (q); st.global.v4.u32 [y+16], q;",
              ".func (.reg .v2 .u32 o) swap (.reg .v2 .u32 i) { mov.u32 o.x, i.y; mov.u32 o.y, i.x; ret; }\n"
              ".func (.reg .v4 .u32 o) turn (.reg .v4 .u32 i) { mov.v4.u32 o, {i.w, i.z, i.y, i.x}; ret; }\n"),
       {2, 1, 2, 1, 8, 7, 6, 5}},
      {"conversions from and to 8-bit floats in PTX ISA 7.8",
       kernel("7.8", "sm_90",
              "mov.f32 f0, 1.5; mov.f32 f1, -2.0; cvt.rn.satfinite.e4m3x2.f32 h0, f0, f1; st.global.b16 [y], h0;\n"
              "cvt.rn.f16x2.e4m3x2 w0, h0; st.global.b32 [y+4], w0; cvt.rn.satfinite.e5m2x2.f32 h1, f0, f1; "
              "st.global.b16 [y+8], h1;",
              ".address_size 64\n"),
       {0xeeee3cc0, 0x3e00c000, 0xeeee3ec0}},
      {"shared memory that LLVM's front ends declare extern and give a size",
       kernel(
           "7.0", "sm_75",
           "st.shared.u32 [s+508], 3; st.shared.u32 [own+12], 4; ld.shared.u32 r0, [s+508]; ld.shared.u32 r1, "
           "[own+12];\n"
           "st.global.u32 [y], r0; st.global.u32 [y+4], r1; mov.u32 r2, %dynamic_smem_size; st.global.u32 [y+8], r2;",
           ".address_size 64\n.extern .shared .align 8 .b8 s[512];\n.shared .b32 own[4];\n"),
       {3, 4, 0}},
      {"an element of an array of parameters",
       ".version 7.0\n.target sm_75\n.entry k (.param .u64 out[2]) { .reg .u64 y; ld.param.u64 y, out[0]; "
       "st.global.u32 [y], 9; exit; }\n",
       {9}},
  };
}

}  // namespace

TEST_CASE("Texts of old compilers, books and other front ends load and compute") {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("recorded on compute capability 9.0");
  for (const Case& c : cases()) {
    INFO(c.what);
    CHECK(run(c.text, c.results.size(), c.threads) == c.results);
  }
}

TEST_CASE("What was optional in old versions is not in new ones, and the reverse") {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("recorded on compute capability 9.0");
  struct Refused {
    const char *version, *target, *statement, *says;
  };
  const Refused all[] = {
      {"1.4", "sm_10", "mad.rn.f32 f0, f1, f2, f3;", "Illegal rounding modifier for instruction 'mad'"},
      {"7.0", "sm_13", "mad.rz.f32 f0, f1, f2, f3;", "Illegal rounding modifier for instruction 'mad'"},
      {"7.0", "sm_20", "mad.f32 f0, f1, f2, f3;", "mad"},
      {"4.0", "sm_30", "mad.f32 f0, f1, f2, f3;", "mad"},
      {"1.4", "sm_10", "sin.f32 f0, f1;", "sin"},
      {"1.4", "sm_10", "div.f32 f0, f1, f2;", "div"},
      {"1.4", "sm_10", "atom.global.add.u32 r0, [y], r1;", "atom"},
      {"2.0", "sm_20", "mad.f64 d0, d1, d2, d3;", "mad"},
      {"7.8", "sm_89", "cvt.rn.satfinite.e4m3x2.f32 h0, f0, f1;", "sm_90"},
      {"7.7", "sm_80", "cvt.rn.f16x2.e4m3x2 w0, h0;", "requires"},
      {"2.2", "sm_20", "ld.const[0].u32 r0, [y];", "explicit constant banks"},
      {"7.0", "sm_75", "mov.u32 r0, r1[1];", ""},
      {"7.0", "sm_75", "ld.global.u32 r0, [y+l0];", "syntax error"},
      {"7.0", "sm_75", "call (r0), f, (r1+1);", ""},
  };
  for (const Refused& each : all) {
    INFO(each.version << " " << each.target << " " << each.statement);
    std::string log;
    const CUmodule module = load(kernel(each.version, each.target, each.statement), log);
    CHECK(module == nullptr);
    if (module != nullptr) CU_CHECK(cuModuleUnload(module));
    CHECK(log.find(each.says) != std::string::npos);
  }
}
