// PTX as different compilers and people write it: texts that must load and compute what is written beside them, and
// texts that no driver's compiler takes. The same on a GPU.
#include "tests/catch.hpp"
#include "tests/instructions/device.hpp"

#include <cstdint>

namespace {

using namespace instructions;
using Words = std::vector<std::uint32_t>;

constexpr int kVersion = 83;
constexpr std::size_t kWords = 64;
constexpr std::uint32_t kUntouched = 0xeeeeeeee;

struct Text {
  const char* what;
  const char* before;      // at module scope
  const char* directives;  // of the kernel
  const char* body;        // [%out] is where the results go
  Words results;           // by word; kUntouched: whatever
  int architecture = 75;
  bool only_simulated = false;  // ptxas takes it, the compiler in a driver (580) crashes
};

std::string whole(const Text& t, int architecture) {
  return header(Device::ptx_version(kVersion), architecture) + t.before + "\n.visible .entry k(.param .u64 out) " +
         t.directives + "\n{\n.reg .b64 %out;\nld.param.u64 %out, [out];\n" + t.body + "\nret;\n}\n";
}

Words run(CUmodule module, std::size_t words) {
  CUfunction function = nullptr;
  CU_CHECK(cuModuleGetFunction(&function, module, "k"));
  CUdeviceptr out = 0;
  CU_CHECK(cuMemAlloc(&out, kWords * 4));
  CU_CHECK(cuMemsetD32(out, kUntouched, kWords));
  void* parameters[] = {&out};
  CU_CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 1024, nullptr, parameters, nullptr));
  Words got(kWords);
  CU_CHECK(cuMemcpyDtoH(got.data(), out, kWords * 4));
  CU_CHECK(cuMemFree(out));
  got.resize(words);
  return got;
}

// What has no registers in it is run as it stands; `st` at the end of each line writes to the next word.
const std::vector<Text>& texts() {
  static const std::vector<Text> all = {
      {"registers that are vectors",
       "",
       "",
       ".reg .v4 .f32 %v; .reg .v2 .u32 V2; .reg .f32 f<4>; mov.f32 f0,0f3F800000; mov.f32 f1,0F40000000;"
       "mov.f32 f2,3.0; mov.f32 f3,4.0e0; mov.v4.f32 %v,{f0,f1,f2,f3}; st.global.v4.f32 [%out],%v; mov.u32 V2.x,7;"
       "mov.u32 V2.y,8; st.global.v2.u32 [%out+16],V2; mov.f32 f0,%v.z; st.global.f32 [%out+24],f0; mov.f32 f1,%v.a;"
       "st.global.f32 [%out+28],f1;",
       {0x3f800000, 0x40000000, 0x40400000, 0x40800000, 7, 8, 0x40400000, 0x40800000}},
      {"halves in pairs that are counted as integers",
       "",
       "",
       ".reg .f16x2 h<4>; .reg .b32 r<2>; mov.b32 r0,0x00010002; st.global.b32 [%out],r0; ld.global.u32 h0,[%out];"
       "add.u32 h1,h0,5; mov.s32 h2,h1; st.global.s32 [%out+4],h2; ld.global.u16 h3,[%out]; st.global.u32 [%out+8],h3;"
       "cvt.u32.u16 r1,h0; st.global.u32 [%out+12],r1;",
       {0x00010002, 0x00010007, 2, 2}},
      {"floats that come and go in integers' registers, in braces",
       "",
       "",
       ".reg .u32 u<4>; .reg .s64 w<2>; .reg .f64 d; mov.u32 u0,0x3f800000; mov.u32 u1,7;"
       "st.global.v2.f32 [%out],{u0,u1}; ld.global.v2.f32 {u2,u3},[%out]; st.global.v4.f32 [%out+16],{u3,u2,u1,u0};"
       "mov.s64 w0,-2; mov.s64 w1,3; st.global.v2.f64 [%out+32],{w0,w1};",
       {0x3f800000, 7, kUntouched, kUntouched, 7, 0x3f800000, 7, 0x3f800000, 0xfffffffe, 0xffffffff, 3, 0}},
      {"reductions that an mbarrier counts",
       "",
       ".reqnctapercluster 1, 1, 1",
       ".shared .align 8 .b64 bar; .shared .align 16 .b32 cell[4]; .reg .b32 %t, %m, %b, %c, %r<4>; .reg .pred %p;\n"
       "mov.u32 %t, %tid.x; mul.lo.u32 %m, %t, 10; mov.u32 %b, bar; mov.u32 %c, cell; setp.eq.u32 %p, %t, 0;\n"
       "@%p mbarrier.init.shared::cta.b64 [%b], 1;\n@%p st.shared.v4.u32 [%c], {100, 100, 100, 255};\n"
       "@%p fence.mbarrier_init.release.cluster;\nbar.sync 0;\n"
       "@%p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 512;\n"
       "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%c], %t, [%b];\n"
       "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.s32 [%c+4], %m, [%b];\n"
       "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%c+8], 1000, [%b];\n"
       "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.xor.b32 [%c+12], %t, [%b];\n"
       "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p, [%b], 0;\n@!%p bra AGAIN;\n"
       "ld.shared.v4.u32 {%r0, %r1, %r2, %r3}, [%c]; st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3};",
       {596, 310, 132, 255},
       90},
      {"scopes with names of their own",
       "",
       "",
       ".reg .u32 r; mov.u32 r,1;\n{ .reg .u32 r; mov.u32 r,2; st.global.u32 [%out],r;\n{ .reg .b64 r; mov.b64 r,3; "
       "st.global.u64 [%out+8],r; } st.global.u32 [%out+4],r; }\nst.global.u32 [%out+16],r;",
       {2, 2, 3, 0, 1}},
      {"labels of all sorts",
       "",
       "",
       ".reg .u32 r; .reg .pred p; mov.u32 r,0;\n$L__BB0_1: add.u32 r,r,1; setp.lt.u32 p,r,5; @p bra $L__BB0_1;\n"
       "bra.uni %lab; r2: add.u32 r,r,100; %lab:_x: st.global.u32 [%out],r;bra _$9a; _$9a:",
       {5}},
      {"literals in every base",
       "",
       "",
       ".reg .b32 a<12>; mov.u32 a0,0x1F; mov.u32 a1,017; mov.u32 a2,0b101; mov.u32 a3,0B11U; mov.u32 a4,0XffU;"
       "mov.s32 a5,-0; mov.u32 a6,10U; mov.u32 a7,(1<<4)|3; mov.u32 a8,(5>3)?7:9; mov.u32 a9,~0; mov.u32 a10,!0;"
       "mov.u32 a11,WARP_SZ*2-1; st.global.v4.b32 [%out],{a0,a1,a2,a3}; st.global.v4.b32 [%out+16],{a4,a5,a6,a7};"
       "st.global.v4.b32 [%out+32],{a8,a9,a10,a11};",
       {31, 15, 5, 3, 255, 0, 10, 19, 7, 0xffffffff, 1, 63}},
      {"constant expressions with casts",
       ".const .u32 c = (.u64)-1 >> 60;\n"
       ".const .s64 d = (.s64)0xffffffffffffffffU >> 4;\n.const .u32 e = 5 % 3 + 7/2;\n.const .f32 f = 1.5 + 2.25e1;\n"
       ".const .f64 g = -.5;\n.const .f32 h=1.;\n.const .align 16 .u32 i[4] = {1 == 1, 2 ? 3 : 4, 5 > 6 ? 7 : 8, 1 || "
       "0};",
       "",
       ".reg .b32 a, b, x, y, z<4>; .reg .b64 w, v; ld.const.b32 a,[c]; ld.const.b32 b,[e]; ld.const.b64 w,[d];"
       "ld.const.b64 v,[g]; ld.const.b32 x,[f]; ld.const.b32 y,[h]; ld.const.v4.b32 {z0,z1,z2,z3},[i];"
       "st.global.v2.b32 [%out],{a,b}; st.global.b64 [%out+8],w; st.global.b64 [%out+16],v; "
       "st.global.v2.b32 [%out+24],{x,y}; st.global.v4.b32 [%out+32],{z0,z1,z2,z3};",
       {15, 5, 0xffffffff, 0xffffffff, 0, 0xbfe00000, 0x41c00000, 0x3f800000, 1, 3, 8, 1}},
      {"operators and their order: a remainder is one of unsigned numbers",
       "",
       "",
       ".reg .b32 a<12>; mov.u32 a0, 3*(4+5)% 7; mov.u32 a1,(.s64)5; mov.u32 a2, 7 / 2 << 1; mov.u32 a3, -7 / 2;"
       "mov.u32 a4, -7 % 3; mov.u32 a5, ~5 & 0xff | 0x100 ^ 3; mov.u32 a6, -1 >> 4; mov.u32 a7, 0xffffffffffffffff >> "
       "4;"
       "mov.u32 a8,(.u64)-1 > 0; mov.u32 a9, -1 < 0U; mov.u32 a10, !5; mov.u32 a11, 5 == 5 && 3 < 2 || 1;"
       "st.global.v4.b32 [%out],{a0,a1,a2,a3}; st.global.v4.b32 [%out+16],{a4,a5,a6,a7};"
       "st.global.v4.b32 [%out+32],{a8,a9,a10,a11};",
       {6, 5, 6, 0xfffffffd, 0, 0x1fb, 0xffffffff, 0xffffffff, 1, 0, 0, 1}},
      {"floating-point literals beyond the type's range",
       "",
       "",
       ".reg .f32 r; mov.f32 r,1e40; st.global.f32 [%out],r; mov.f32 r,1e-50; st.global.f32 [%out+4],r;"
       "mov.f32 r,-1e40; st.global.f32 [%out+8],r; mov.f32 r,3.4028236e38;st.global.f32 [%out+12],r;"
       "mov.f32 r,1.5+2.0; st.global.f32 [%out+16],r;",
       {0x7f800000, 0, 0xff800000, 0x7f800000, 0x40600000}},
      {"initialisers with addresses",
       ".global .align 4 .b8 q[16] = {1,2,3,4,5,0x6,7,0b1000};\n"
       ".global .align 8 .u64 p[3] = {q, generic(q)+4, q+8};\n"
       ".global .align 8 .u8 m[8] = {0xff(generic(q)),0xFF00(generic(q)),0xFF0000(generic(q)),0xff000000(generic(q)),"
       "0xff00000000(generic(q)),0xff0000000000(generic(q)),0xff000000000000(generic(q)),0xff00000000000000(generic(q))"
       "};",
       "",
       ".reg .b64 a; .reg .b32 r; ld.global.u64 a,[p+8]; ld.u32 r,[a]; st.global.u32 [%out],r; ld.global.u64 a,[m];"
       "ld.u32 r,[a]; st.global.u32 [%out+4],r; ld.global.u64 a,[p]; ld.global.u32 r,[a+4]; st.global.u32 [%out+8],r;",
       {0x08070605, 0x04030201, 0x08070605}},
      {"initialisers with dimensions: lists that are too short are not filled up one by one",
       ".global .s32 off[][2] = { {-1, 0}, {0, -1}, {1, 0}, {0, 1} };\n"
       ".global .f32 blur[3][3] = {{.05,.1,.05},{.1,.4,.1},{.05,.1,.05}};\n"
       ".const .align 8 .b16 hh[2][2][2] = {{{1,2},{3}},{{5}}};\n.global .v4 .f32 vv = {1.0,2.0,3.0,4.0};\n"
       ".global .v2 .u32 vw[2] = {{1,2},{3,4}};\n.global .align 4 .u8 small[4] = {-1,255,256,-129};",
       "",
       ".reg .b32 r<4>; ld.global.s32 r0,[off+20]; ld.global.b32 r1,[blur+16]; ld.const.b32 r2,[hh+4];"
       "ld.global.b32 r3,[vv+8]; st.global.v4.b32 [%out],{r0,r1,r2,r3}; ld.global.b32 r0,[vw+12];"
       "ld.global.b32 r1,[small]; st.global.v2.b32 [%out+16],{r0,r1}; ld.global.s32 r2,off[4]; st.global.b32 "
       "[%out+24],r2;",
       {0, 0x3ecccccd, 0x50003, 0x40400000, 4, 0x7f00ffff, 1}},
      {"parameters in memory, byte arrays among them",
       ".visible .func (.param .b32 ret) add2(.param .b32 a, .param .align 8 .b8 s[12])\n{\n.reg .b32 r<4>;"
       "ld.param.b32 r0,[a]; ld.param.b32 r1,[s]; ld.param.b32 r2,[s+8]; add.u32 r0,r0,r1; add.u32 r0,r0,r2;"
       "st.param.b32 [ret],r0; ret;\n}",
       "",
       ".reg .b32 r<4>; { .param .b32 p0; .param .align 8 .b8 p1[12]; .param .b32 rv; mov.u32 r0,5; st.param.b32 "
       "[p0],r0;"
       "st.param.b32 [p1],r0; st.param.b32 [p1+4],r0; st.param.b32 [p1+8+0],10; call.uni (rv), add2, (p0, p1);"
       "ld.param.b32 r1,[rv]; } st.global.u32 [%out],r1;",
       {20}},
      {"parameters in registers, two results",
       ".func (.reg .u32 rv) inc(.reg .u32 x, .reg .u32 y)\n{ add.u32 rv,x,y; ret; }\n"
       ".func (.reg .b32 a, .reg .b32 b) two() { mov.b32 a,1; mov.b32 b,2; ret; }\n.func nothing() { }",
       "",
       ".reg .u32 a,b,x,y; mov.u32 a,3; call (b), inc, (a, 4); call (x,y), two; call nothing;"
       "st.global.v4.u32 [%out],{a,b,x,y};",
       {3, 7, 1, 2}},
      // If a function has two results, compilers give up the conventions that forbid predicates as arguments.
      {"predicates and short integers as parameters and results, of lanes that part and of those that stay",
       ".func (.reg .pred q, .reg .u32 s) both(.reg .pred p, .reg .u32 a, .reg .pred b)\n"
       "{ and.pred q,p,b; selp.u32 s,a,7,p; ret; }\n"
       ".func (.reg .pred q) odd(.reg .u16 n)\n{ .reg .u16 r; and.b16 r,n,1; setp.eq.u16 q,r,1; ret; }\n"
       ".func (.reg .pred q) neither(.reg .pred p)\n"
       "{ .reg .pred o; .reg .u32 t; .reg .u16 h; mov.u32 t,%tid.x; shr.u32 t,t,1; cvt.u16.u32 h,t; call (o), odd, (h);"
       "or.pred o,o,p; not.pred q,o; @q ret; setp.gt.u32 p,t,1; mov.pred q,p; }",
       "",
       ".reg .pred o,n,x,y; .reg .u32 t,s,r; .reg .u16 h; .reg .u64 a; mov.u32 t,%tid.x; cvt.u16.u32 h,t;\n"
       "call (o), odd, (h); call (n), neither, (o); setp.lt.u32 x,t,4; mov.pred y,o; mov.u32 s,9;\n"
       "@x call (y,s), both, (n, t, o); selp.u32 r,1,0,o; @n or.b32 r,r,2; @y or.b32 r,r,4;\n"
       "shl.b32 s,s,4; or.b32 r,r,s; mad.wide.u32 a,t,4,%out; st.global.u32 [a],r;",
       {2,   113, 112, 113, 146, 151, 146, 151, 146, 151, 146, 151, 146, 151, 146, 151,
        146, 151, 146, 151, 146, 151, 146, 151, 146, 151, 146, 151, 146, 151, 146, 151},
       75,
       true},
      {"tables of branches and of functions",
       ".func (.reg .u32 r) f0() { mov.u32 r,10; ret; }\n.func (.reg .u32 r) f1() { mov.u32 r,11; ret; }",
       "",
       ".reg .u32 a,b,i; .reg .b64 fp; mov.u32 i,1; ts: .branchtargets L0, L1, L2; brx.idx i, ts;\nL0: mov.u32 a,100;"
       "bra D; L1: mov.u32 a,101; bra D; L2: mov.u32 a,102; D: st.global.u32 [%out],a; mov.u64 fp,f1;\n"
       "ct: .calltargets f0,f1; call (b), fp, (), ct; st.global.u32 [%out+4],b;\n"
       "proto: .callprototype (.reg .u32 _) _ (); mov.u64 fp,f0; call (b),fp,(),proto; st.global.u32 [%out+8],b;",
       {101, 11, 10}},
      {"a function's address in a table",
       ".visible .func (.param .b32 r) g(.param .b64 p, .param .b32 q) { .reg .b32 a; ld.param.b32 a,[q];"
       "st.param.b32 [r],a; ret; }\n.global .u64 tab[1] = {g};",
       "",
       ".reg .b64 fp; .reg .b32 a; ld.global.u64 fp,[tab]; { .param .b64 p0; .param .b32 p1; .param .b32 rr;"
       "st.param.b64 [p0],fp; st.param.b32 [p1],77;\nprototype_0 : .callprototype (.param .b32 _) _ (.param .b64 _, "
       ".param .b32 _); call (rr), fp, (p0,p1), prototype_0; ld.param.b32 a,[rr]; } st.global.u32 [%out],a;",
       {77}},
      {"hints to the compiler",
       ".pragma \"nounroll\";",
       ".maxntid 128,1,1 .minnctapersm 2 .maxnreg 64 .pragma \"nounroll\";",
       ".reg .b32 r; mov.u32 r,%ntid.x;"
       ".pragma \"nounroll\"; st.global.u32 [%out],r;",
       {32}},
      {"a required number of threads",
       "",
       ".reqntid 32",
       ".reg .b32 r; mov.u32 r,%ntid.x; st.global.u32 [%out],r;",
       {32}},
      {"a cluster of one",
       "",
       ".explicitcluster .reqnctapercluster 1",
       ".reg .b32 r; mov.u32 r,%cluster_nctarank; st.global.u32 [%out],r;",
       {1},
       90},
      {"lines of a source, inlined ones too, and debug sections",
       ".file 1 \"a.cu\", 1700000000, 1234\n.file 2 \"b.h\"",
       "",
       ".loc 1 5 3\n.reg .b32 r; mov.u32 r,1;\n.loc 2 7 1, function_name $L__info_string0, inlined_at 1 5 3\n"
       "st.global.u32 [%out],r;\n.loc 2 9 2, function_name $L__info_string0+8, inlined_at 2 7 1\nret;\n}\n"
       ".section .debug_str {\n$L__info_string0:\n.b8 95,90,51,0\n.b8 97,98,99,100,101,102,103,0\n}\n"
       ".section .debug_abbrev { .b8 1 // x\n.b8 17,1,0\n.b32 .debug_str\n.b64 $L__info_string0\n.b32 5\n}\n"
       ".visible .entry another() {",
       {1}},
      {"comments anywhere, and lines that end as in DOS",
       "",
       "",
       ".reg .b32 r;\r\nmov.u32 r,1; // c\r\n/* x\r\n y */ st.global.u32 /* a */ [ %out /**/ + 4 ] , r ;\r\n",
       {kUntouched, 1}},
      {"what is weak, common, and aligned",
       ".weak .global .u32 w = 3;\n.weak .func (.reg .u32 r) wf() { mov.u32 r,4; ret; }\n.common .global .u32 cm;\n"
       ".visible .const .align 16 .b8 arr[32];\n.extern .global .u32 later; .visible .global .u32 later = 4;",
       "",
       ".reg .u32 a,b,c,d; call (a), wf; ld.global.u32 b,[w]; ld.global.u32 c,[cm]; ld.global.u32 d,[later];"
       "st.global.v4.u32 [%out],{a,b,c,d};",
       {4, 3, 0, 4}},
      {"managed memory, and attributes",
       ".visible .global .attribute(.managed) .align 4 .u32 man = 5;",
       "",
       ".reg .b32 r; ld.global.u32 r,[man]; st.global.u32 [%out],r;",
       {5}},
      {"a function that does not return",
       ".func die() .noreturn { trap; }",
       "",
       ".reg .pred p; .reg .b32 r; setp.eq.u32 p,0,1; @p call die; mov.b32 r,6; st.global.b32 [%out],r;",
       {6}},
      {"dynamic shared memory under two names",
       ".extern .shared .align 16 .b8 sm[];\n.extern .shared .u32 sm2[];",
       "",
       ".reg .u32 b; st.shared.u32 [sm+4],9; ld.shared.u32 b,[sm2+4]; st.global.u32 [%out],b;",
       {9}},
      {"local memory by address and by name",
       "",
       "",
       ".local .align 16 .b8 depot[64]; .reg .b64 sp,spl; mov.u64 spl,depot; cvta.local.u64 sp,spl; st.u32 [sp+60],5;"
       ".reg .u32 a; ld.local.u32 a,[spl+60]; st.global.u32 [%out],a; ld.local.u32 a,[depot+60]; st.global.u32 "
       "[%out+4],a;",
       {5, 5}},
      {"predicates in pairs and negated",
       "",
       "",
       ".reg .pred p,q,r; .reg .u32 a; setp.eq.u32 r,1,1; setp.lt.and.u32 p|q,1,2,r; setp.ne.u32 p,1,0; and.pred "
       "r,p,!q;"
       "@!r bra X; mov.pred r,!p; selp.u32 a,1,2,r; st.global.u32 [%out],a; X:",
       {2}},
      {"inline PTX in braces",
       "",
       "",
       ".reg .b32 %zz;\n// begin inline asm\n{.reg .pred p;\n setp.eq.s32 p,1,1;\n}\n// end inline asm\n"
       "{\n\t.reg .b16 low,high;\n mov.b32 {low,high}, 0x12345678;\n mov.b32 %zz, {high,low};}\n st.global.u32 [%out], "
       "%zz;",
       {0x56781234}},
      {"as Triton writes it",
       ".file 1 \"/x/y.py\"\n.extern .shared .align 16 .b8 global_smem[];",
       ".maxntid 128, 1, 1",
       ".reg .b32 %r<20>; .reg .pred %p<4>;\n\t.loc\t1 10 24\n\t// begin inline asm\n\tmov.u32 %r1, %ctaid.x;\n"
       "\t// end inline asm\n\tmov.u32 \t%r2, %tid.x;\n\tand.b32  \t%r3, %r2, 31;\n\tsetp.lt.s32 \t%p1, %r3, 16;\n"
       "\tmov.pred \t%p2, -1;\n\tmov.b32 \t%r7, 0;\n\t// begin inline asm\n\tmov.u32 %r4, 0x0;\n\tmov.u32 %r5, 0x0;\n"
       "\t@%p1 ld.global.v2.b32 { %r4, %r5 }, [ %out + 0 ];\n\t// end inline asm\n\tbar.sync \t0;\n"
       "\tsetp.eq.s32 \t%p3, %r3, 0;\n\t@%p3 st.global.v2.b32 [ %out + 8 ], { %r4, %r7 };\n\tbar.sync \t0;",
       {kUntouched, kUntouched, kUntouched, 0}},
      {"a call of itself",
       ".func (.reg .u32 r) f(.reg .u32 n) { .reg .pred p; .reg .u32 t; setp.eq.u32 p,n,0; mov.u32 r,0; @p ret;"
       "sub.u32 t,n,1; call (t), f, (t); add.u32 r,t,n; ret; }",
       "",
       ".reg .u32 a; call (a),f,(10); st.global.u32 [%out],a;",
       {55}},
      {"a declaration before the definition",
       ".func (.reg .u32 r) f();",
       "",
       ".reg .u32 a; call (a), f; st.global.u32 [%out],a; ret; }\n.func (.reg .u32 r) f() { mov.u32 r,8;",
       {8}},
      {"names that are opcodes, and hide others",
       ".global .u32 p = 3;\n.func add() { ret; }",
       "",
       ".reg .u32 mov, ld; .reg .b32 p; call add; mov.u32 mov,1; add.u32 ld,mov,mov; mov.b32 p,7; "
       "st.global.v2.u32 [%out],{ld,p};",
       {2, 7}},
      {"variables in a body",
       "",
       "",
       ".global .u32 gg = 3; .const .u32 cc = 4; .reg .u32 r,s; ld.global.u32 r,[gg]; ld.const.u32 s,[cc];"
       "st.global.v2.u32 [%out],{r,s};",
       {3, 4}},
      {"numbers where registers could be",
       "",
       "",
       ".reg .u32 r<4>; .reg .pred p; .reg .f32 f; mad.lo.u32 r0,1,2,3; setp.lt.f32 p,1.0,2.0; selp.u32 r1,1,2,p;"
       "cvt.u32.u8 r2,300; cvt.rzi.u32.f32 r3,3.5; st.global.v4.u32 [%out],{r0,r1,r2,r3}; cvt.rn.f32.s32 f,-1;"
       "st.global.f32 [%out+16],f; st.global.u32 [%out+20],1; shl.b32 r0,1,33; shr.s32 r1,-8,40;"
       "st.global.v2.u32 [%out+24],{r0,r1};",
       {5, 1, 0x2c, 3, 0xbf800000, 1, 0, 0xffffffff}},
      {"numbers and gaps among a vector's registers, which are wider than what is moved",
       "",
       "",
       ".reg .b32 r<4>; mov.b32 r0,0x1234; mov.b32 r1,-1; mov.b32 r2,-1; st.global.v4.u8 [%out],{1,r0,2,r0};"
       "st.global.v2.u16 [%out+4],{r0,-2}; bar.sync 0; ld.global.v2.u8 {r1,_},[%out]; ld.global.v2.s16 {_,r2},[%out+4];"
       "st.global.v2.b32 [%out+8],{r1,r2};",
       {0x34023401, 0xfffe1234, 1, 0xfffffffe}},
      {"special registers whole, and what they have instead of a fourth part",
       "",
       "",
       ".reg .v4 .u32 v; .reg .u32 a,b,c,d; .reg .v4 .b16 h; mov.v4.u32 v,%ntid; mov.v4.u32 {a,b,c,d},%nctaid;"
       "st.global.v4.u32 [%out],v; st.global.v4.u32 [%out+16],{a,b,c,d}; mov.v4.u16 h,%ntid; st.global.v4.b16 "
       "[%out+32],h;"
       "mov.u32 a,%ntid.r; mov.u32 b,%ntid.w; st.global.v2.u32 [%out+40],{a,b};",
       {32, 1, 1, 0, 1, 1, 1, 0, 0x10020, 1, 32, 0}},
      {"a kernel that no graph of the device's own has launched",
       "",
       "",
       ".reg .b64 a; mov.u64 a,%current_graph_exec; st.global.b64 [%out],a;",
       {0, 0}},
  };
  return all;
}

// Texts that ptxas refuses, with what the simulator's log has to say. A driver's wording is its own.
struct Refused {
  const char* what;
  const char* before;
  const char* directives;
  const char* body;
  const char* says;
  bool only_simulated = false;  // ptxas refuses it, the compiler in a driver (580) does not, or it crashes
};
const std::vector<Refused>& refused() {
  static const std::vector<Refused> all = {
      {"an initialiser that names what comes later", ".global .u64 p = q;\n.global .u32 q;", "", "",
       "Invalid initial value symbol 'q'"},
      {"an initialiser that names itself", ".global .u64 q = q;", "", "", "Invalid initial value symbol 'q'"},
      {"an address in a variable of bits", ".global .u32 q;\n.global .b64 p = q;", "", "",
       "Initial value type mismatch"},
      {"an address in a signed variable", ".global .u32 q;\n.global .s64 p = generic(q);", "", "",
       "Initial value type mismatch"},
      {"a byte of an address in untyped bytes", ".global .u32 q;\n.global .b8 p[2] = {0xff(q), 0xff00(q)};", "", "",
       "Initial value type mismatch"},
      {"a generic address of a function", ".func f() { ret; }\n.global .u64 p = generic(f);", "", "",
       "Invalid initial value expression"},
      {"a place within a function", ".func f() { ret; }\n.global .u64 p = f+8;", "", "", "Initial value type mismatch"},
      {"an initialiser of shared memory", ".shared .u32 s = 5;", "", "", "No initial value"},
      {"too many values", ".global .u32 s[2] = {1,2,3};", "", "", "Greater number"},
      {"a float for an integer", ".global .u32 s = 1.5;", "", "", "type mismatch"},
      {"an integer for a float", ".global .f32 s = 1;", "", "", "type mismatch"},
      {"an integer in a float's register", "", "", ".reg .f32 f; mov.f32 f, 1;", "Arguments mismatch"},
      {"a second target", ".target sm_80", "", "", "Parsing error near '.target'"},
      {"a second version", ".version 8.0", "", "", "Parsing error near '.version'"},
      {"one register twice", "", "", ".reg .u32 a; .reg .f32 a;", "Duplicate definition of variable 'a'"},
      {"a register that is one of many", "", "", ".reg .u32 %r<3>; .reg .f32 %r1;",
       "Duplicate definition of variable '%r1'"},
      {"many registers, of which one is there", "", "", ".reg .u32 %r1; .reg .f32 %r<3>;",
       "Duplicate definition of variable '%r1'"},
      {"a parameter's name once more", "", "", ".reg .u32 out;", "Duplicate definition of variable 'out'"},
      {"a label with a register's name", "", "", ".reg .u32 L; L: mov.u32 L,1;", "Duplicate definition of label 'L'"},
      {"a register before its declaration", "", "", "mov.u32 x,1; .reg .u32 x;", "Unknown symbol 'x'"},
      {"a variable before its declaration", "", "",
       ".reg .u32 r; ld.global.u32 r,[g]; ret; }\n.global .u32 g;\n.func f() {", "Unknown symbol 'g'"},
      {"a function before its declaration", "", "", "call f; ret; }\n.func f() {", "Unknown symbol 'f'"},
      {"a function's address before its declaration", "", "", ".reg .u64 r; mov.u64 r,f; ret; }\n.func f() {",
       "Unknown symbol 'f'"},
      {"a jump into a scope", "", "", "bra L; { L: }", "L"},
      {"parameters of one name", ".func g(.param .b32 p, .param .b32 p) { ret; }", "", "",
       "Duplicate definition of variable 'p'"},
      {"a vector as a parameter", ".func g(.param .v2 .u32 p) { ret; }", "", "", "cannot be allocated in .param"},
      {"a texture as a function's parameter", ".func g(.param .texref t) { ret; }", "", "",
       "cannot be allocated in .param"},
      {"a parameter of two dimensions", ".entry g(.param .f64 b[2][2]) { ret; }", "", "", "syntax error"},
      {"a kernel's parameter without a size", ".entry g(.param .b8 b[]) { ret; }", "", "", "incomplete array"},
      {"two results in memory", ".func (.param .b32 a, .param .b32 b) g() { ret; }", "", "",
       "Multiple return parameters"},
      {"a kernel's result", ".entry (.param .u32 r) g() { ret; }", "", "", "syntax error"},
      {"a result of what does not return", ".func (.reg .u32 r) g() .noreturn { trap; }", "", "", ".noreturn"},
      {"a predicate passed by convention", ".func f(.reg .pred p) { ret; }", "", ".reg .pred p; call f, (p);",
       "passing predicate"},
      {"a predicate returned by convention", ".func (.reg .pred p) f() { ret; }", "",
       ".reg .pred p; .reg .b64 a; mov.u64 a, f; P: .callprototype (.reg .pred _) _ (); call (p), a, P;",
       "returning predicate"},
      {"a short integer passed by convention", ".func f(.reg .u16 h) { ret; }", "", ".reg .u16 h; call f, (h);",
       "passing predicate, 8-bit and 16-bit"},
      {"a call through a pointer where a function has two results",
       ".func (.reg .b32 a, .reg .b32 b) two() { ret; }\n.func f() { ret; }", "",
       ".reg .b64 a; mov.u64 a, f; T: .calltargets f; call a, T;", "requires ABI"},
      {"a call of itself where a function has two results",
       ".func (.reg .b32 a, .reg .b32 b) two() { ret; }\n.func f() { call f; ret; }", "", "call f;", "is recursive"},
      {"a predicate for a number", ".func f(.reg .b32 r) { ret; }", "", ".reg .pred p; call f, (p);",
       "Arguments mismatch"},
      {"a number for a predicate", ".func f(.reg .pred p) { ret; }", "", "call f, (1);", "Arguments mismatch"},
      {"blocks that are clusters before PTX ISA 9.0", "", ".reqntid 32 .reqnctapercluster 1 .blocksareclusters", "",
       "requires PTX ISA .version 9.0"},
      {"registers that calls preserve before PTX ISA 9.0", ".func f() .abi_preserve 8 { ret; }", "", "",
       "requires PTX ISA .version 9.0"},
      {"a size of cluster, and the largest", "", ".reqnctapercluster 1 .maxclusterrank 4", "",
       "Conflicting directives"},
      {"32 bytes at once", "", "", ".reg .b32 r<8>; ld.global.v8.b32 {r0, r1, r2, r3, r4, r5, r6, r7}, [%out];",
       "256 bit wide load/store"},
      {"four doubles at once", "", "", ".reg .f64 d<4>; st.global.v4.f64 [%out], {d0, d1, d2, d3};",
       "256 bit wide load/store"},
      {"local memory outside of functions", ".local .u32 l;", "", ".reg .b32 r; ld.local.u32 r, [l];",
       "not allowed with ABI", true},
      {"registers outside of functions", ".reg .u32 r;", "", "mov.u32 r, 1;", "not allowed with ABI", true},
      {"a field that a texture has not", ".global .texref t = {memory_layout = 0};", "", "",
       "Unrecognized field name 'memory_layout'"},
      {"a value that no field has", ".global .texref t = {filter_mode = anisotropic};", "", "",
       "Unrecognized initial value symbol 'anisotropic'", true},
      {"a sampler beside textures that bring theirs", ".global .samplerref s = {filter_mode = linear};", "", "",
       "texmode_unified"},
      {"a question about surfaces, asked of a texture", ".global .texref t;", "", ".reg .b32 r; suq.width.b32 r, [t];",
       ".surfref or .u64 register expected"},
      {"a register of a type that only instructions have", "", "", ".reg .bf16 r;", "syntax error"},
      {"common shared memory", ".common .shared .u32 a;", "", "",
       ".common variables must be declared in .global space"},
      {"too many constants", ".const .b8 big[65537];", "", "", "too much global constant data"},
      {"registers of two sizes in a vector", "", "", ".reg .b16 h; .reg .b32 r; ld.global.v2.u8 {h,r},[%out];",
       "Incompatible elements"},
      {"elect without a predicate", "", "", ".reg .u32 r; elect.sync r, -1;", "Predicate output expected"},
      {"an amount that discard does not know", "", "", "discard.global.L2 [%out], 64;", "expected to be 128"},
      {"fewer bytes than a tensor map has", "", "", "fence.proxy.tensormap::generic.acquire.sys [%out], 64;",
       "expected to be 128"},
      {"a cache hint in shared memory", "", "",
       ".shared .u32 s; .reg .b64 p; mov.b64 p,0; red.shared.L2::cache_hint.add.u32 [s],1,p;",
       "cannot be applied to '.shared'"},
      {"an order without a scope", "", "", ".shared .b64 b; mbarrier.arrive.release.b64 _, [b];", "mbarrier"},
      {"a scope without an order", "", "",
       ".shared .b64 b; .reg .pred p; mbarrier.test_wait.parity.cluster.b64 p, [b], 0;", "mbarrier"},
      {"the wrong half of a cluster's memory to acquire", "", "", "fence.acquire.sync_restrict::shared::cta.cluster;",
       "fence"},
      {"a float in an integer's register", "", "", ".reg .u32 u; .reg .f32 f; cvt.rn.f16.f32 u,f;",
       "Arguments mismatch"},
      {"a float in a wider integer's register", "", "", ".reg .u64 u; ld.global.f32 u,[%out];", "Arguments mismatch"},
      {"floats in wider integers' registers", "", "", ".reg .s64 u<2>; ld.global.v2.f32 {u0,u1},[%out];",
       "Arguments mismatch"},
      {"a bfloat16 in a wider register", "", "", ".reg .b32 u; .reg .f32 f; cvt.rn.bf16.f32 u,f;",
       "Arguments mismatch"},
      {"a pair of integers in one's register", "", "", ".reg .u32 u; .reg .b32 b; max.s16x2 b,u,b;",
       "Arguments mismatch"},
      {"a member mask that is a float", "", "", ".reg .f32 f; .reg .pred p; vote.sync.any.pred p,p,f;",
       "Arguments mismatch"},
      {"a distance that is a pair of halves", "", "", ".reg .f16x2 h; .reg .b32 b; shl.b32 b,b,h;",
       "Arguments mismatch"},
      {"a half of a pair as a float", "", "", ".reg .f16x2 h; .reg .f32 f; cvt.f32.f16 f,h;", "Arguments mismatch"},
      {"a field further than its position can say", "", "", ".reg .b32 r; bfe.u32 r,r,256,1;",
       "Argument 2 of instruction 'bfe': value '256' out of range, expected to be in range [0..255]"},
      {"a field of a negative length", "", "", ".reg .b64 r; bfi.b64 r,r,r,0,-1;",
       "Argument 4 of instruction 'bfi': value '-1' out of range, expected to be in range [0..255]"},
      {"a function that reads what it returns", ".func (.param .b32 r) f() { .reg .b32 x; ld.param.b32 x,[r]; ret; }",
       "", "", "Illegal to read function return parameter 'r'"},
      {"a function that writes to what it was given", ".func f(.param .b32 p) { st.param.b32 [p],1; ret; }", "", "",
       "Illegal to write to function input parameter 'p'"},
      {"a function that is declared once more after its body", ".func f() { ret; }\n.func f();", "", "",
       "Duplicate definition of function 'f'"},
      {"a function that is seen from outside on second thought", ".func f();\n.visible .func f() { ret; }", "", "",
       "Inconsistent redefinition"},
      {"a variable of two sizes", ".extern .global .b32 a[2];\n.visible .global .b32 a[3];", "", "",
       "Inconsistent redefinition of variable 'a'"},
      {"no semicolon's worth of nothing", "", "", ";;", "syntax error"},
  };
  return all;
}

}  // namespace

TEST_CASE("PTX as compilers and people write it loads and computes") {
  const Device device;
  for (const Text& t : texts()) {
    if (device.architecture() < t.architecture || (t.only_simulated && !device.simulated())) continue;
    INFO(t.what);
    std::string log;
    const CUmodule module = load(whole(t, std::max(t.architecture, 75)), log);
    CHECK(log == "");
    if (module == nullptr) continue;
    Words got = run(module, t.results.size());
    for (std::size_t k = 0; k < got.size(); ++k) {
      if (t.results[k] == kUntouched) got[k] = kUntouched;
    }
    CHECK(got == t.results);
    CU_CHECK(cuModuleUnload(module));
  }
}

// What works on a multicast object's memory, in all its forms, guarded by a predicate that is never true: not every
// device can create such an object.
TEST_CASE("what needs a multicast object loads without one") {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("multimem needs compute capability 9.0");
  std::string body =
      ".reg .pred never; .reg .b16 h<8>; .reg .b32 r<8>; .reg .f32 f<8>; .reg .b64 d<8>; .reg .f64 e<8>;\n"
      "setp.eq.u64 never, %out, 0;\n";
  const auto add = [&](const std::string& operation, const std::string& what, const std::string& type) {
    const auto named = [&](const std::string& t) {
      if (t == "f16" || t == "bf16") return "h";
      if (t == "f32" || t == "f64") return t == "f32" ? "f" : "e";
      return t.find("64") != std::string::npos ? "d" : "r";
    };
    for (const std::string vector : {"", ".v2", ".v4", ".v8"}) {
      const bool half = type == "f16" || type == "bf16", pair = type == "f16x2" || type == "bf16x2";
      const bool sum = what.find("add") != std::string::npos || operation == "st";
      const bool extreme = what == ".min" || what == ".max";
      if (operation == "red" && extreme && pair && vector.empty()) continue;
      if (vector.empty() ? half : vector == ".v8" ? !half : !half && !pair && !(type == "f32" && sum)) continue;
      std::string value = named(type) + std::string("0");
      if (!vector.empty()) {
        value = "{" + value;
        for (int k = 1; k < vector[2] - '0'; ++k) value += std::string(", ") + named(type) + std::to_string(k);
        value += "}";
      }
      const bool loads = operation == "ld_reduce";
      for (const std::string order :
           {"", operation == "red" ? "" : ".weak", ".relaxed.cta", ".relaxed.sys",
            loads ? ".acquire.gpu" : ".release.cluster", loads ? ".acquire.cluster" : ".release.gpu", ".relaxed.gpu",
            ".relaxed.cluster", loads ? ".acquire.cta" : ".release.sys"}) {
        for (const std::string space : {"", ".global"}) {
          body += "@never multimem." + operation + order + space + what + vector + "." + type + " " +
                  (loads ? value + ", [%out]" : "[%out], " + value) + ";\n";
        }
      }
    }
  };
  for (const std::string operation : {"ld_reduce", "red"}) {
    for (const std::string what : {".and", ".or", ".xor"}) {
      for (const std::string type : {"b32", "b64"}) add(operation, what, type);
    }
    for (const std::string type : {"u32", "s32", "u64", "f32", "f64"}) add(operation, ".add", type);
    for (const std::string what : {".min", ".max"}) {
      for (const std::string type : {"u32", "s32", "u64", "s64"}) add(operation, what, type);
    }
    for (const std::string what : {".add", ".add.acc::f32", ".min", ".max"}) {
      if (operation == "red" && what == ".add.acc::f32") continue;
      for (const std::string type : {"f16", "bf16", "f16x2", "bf16x2"}) add(operation, what, type);
    }
  }
  for (const std::string type :
       {"b32", "b64", "u32", "u64", "s32", "s64", "f32", "f64", "f16", "bf16", "f16x2", "bf16x2"})
    add("st", "", type);
  body += "mov.u32 r0, 7; st.global.u32 [%out], r0;";
  std::string log;
  const CUmodule module = load(whole({"multimem", "", "", body.c_str(), {}, 90}, 90), log);
  CHECK(log == "");
  if (module == nullptr) return;
  CHECK(run(module, 1) == Words{7});
  CU_CHECK(cuModuleUnload(module));
}

TEST_CASE("PTX ends where its text does: without a newline, and at a NUL in a larger buffer") {
  const Device device;
  std::string text = whole({"", "", "", "", {}, 75}, 75), log;
  text.pop_back();
  const CUmodule plain = load(text, log);
  CHECK(log == "");
  CU_CHECK(cuModuleUnload(plain));
  text += std::string("\0garbage {", 10);
  const CUmodule longer = load(text, log);
  CHECK(log == "");
  CU_CHECK(cuModuleUnload(longer));
}

TEST_CASE("what no compiler of a driver takes is refused, and why") {
  const Device device;
  const int architecture = device.architecture();
  if (architecture < 90) SKIP_TEST("some of it needs compute capability 9.0");
  for (const Refused& r : refused()) {
    if (r.only_simulated && !device.simulated()) continue;
    INFO(r.what);
    std::string log;
    const CUmodule module = load(whole({r.what, r.before, r.directives, r.body, {}}, architecture), log);
    CHECK(module == nullptr);
    if (module != nullptr) CU_CHECK(cuModuleUnload(module));
    if (device.simulated()) CHECK((log.find(r.says) != std::string::npos ? "" : log) == "");
  }
}
