// The heap of kernels, their stack, and addresses that mean something in one kernel only. What is expected was seen on
// an H200 (driver 580).
#include "tests/conformance/scenario.hpp"

namespace {

const char kKernels[] = R"(.version 7.8
.target sm_90
.address_size 64
.extern .func (.param .b64 result) malloc (.param .b64 bytes);
.extern .func free (.param .b64 pointer);
.func (.param .b64 result) take (.param .b64 bytes) {
  .reg .u64 %r;
  ld.param.b64 %r, [bytes];
  { .param .b64 b; .param .b64 p; st.param.b64 [b], %r; call.uni (p), malloc, (b); ld.param.b64 %r, [p]; }
  st.param.b64 [result], %r;
  ret;
}
.func give (.param .b64 pointer) {
  .reg .u64 %r;
  ld.param.b64 %r, [pointer];
  { .param .b64 p; st.param.b64 [p], %r; call.uni free, (p); }
  ret;
}
// A compiler stores the number of elements of `new T[n]` in the word before them, which it has not asked for.
.visible .entry counts(.param .u64 out) {
  .reg .u64 %out, %p, %q, %n;
  ld.param.u64 %out, [out];
  mov.u64 %n, 12;
  { .param .b64 b; .param .b64 r; st.param.b64 [b], %n; call.uni (r), take, (b); ld.param.b64 %p, [r]; }
  { .param .b64 b; .param .b64 r; st.param.b64 [b], %n; call.uni (r), take, (b); ld.param.b64 %q, [r]; }
  mov.u64 %n, 3;
  st.u64 [%p+-8], %n;
  st.u64 [%q+-8], %n;
  ld.u64 %n, [%p+-8];
  st.global.u64 [%out], %n;
  or.b64 %n, %p, %q;
  and.b64 %n, %n, 15;
  st.global.u64 [%out+8], %n;
  { .param .b64 b; st.param.b64 [b], %p; call.uni give, (b); }
  { .param .b64 b; st.param.b64 [b], %q; call.uni give, (b); }
  mov.u64 %n, 0;
  { .param .b64 b; .param .b64 r; st.param.b64 [b], %n; call.uni (r), take, (b); ld.param.b64 %p, [r]; }
  st.global.u64 [%out+16], %p;
  ret;
}
.visible .entry twice(.param .u64 out) {
  .reg .u64 %p;
  mov.u64 %p, 64;
  { .param .b64 b; .param .b64 r; st.param.b64 [b], %p; call.uni (r), take, (b); ld.param.b64 %p, [r]; }
  { .param .b64 b; st.param.b64 [b], %p; call.uni give, (b); }
  { .param .b64 b; st.param.b64 [b], %p; call.uni give, (b); }
  ret;
}
.visible .entry null(.param .u64 out) {
  .reg .u64 %p;
  mov.u64 %p, 8;
  { .param .b64 b; st.param.b64 [b], %p; call.uni give, (b); }
  ret;
}
.func (.param .b32 result) deeper (.param .b32 n) {
  .local .align 4 .b8 frame[256];
  .reg .b32 %n, %r, %k;
  .reg .b64 %at;
  .reg .pred %p;
  ld.param.b32 %n, [n];
  mov.u64 %at, frame;
  cvta.local.u64 %at, %at;
  st.volatile.b32 [%at], %n;
  mov.u32 %r, 0;
  setp.lt.s32 %p, %n, 0;
  @%p bra DONE;
  add.s32 %r, %n, 1;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r; call.uni (b), deeper, (a); ld.param.b32 %r, [b]; }
  ld.volatile.b32 %k, [%at];
  add.s32 %r, %r, %k;
DONE:
  st.param.b32 [result], %r;
  ret;
}
.visible .entry recurses(.param .u64 out) {
  .reg .u64 %out;
  .reg .b32 %r;
  ld.param.u64 %out, [out];
  mov.u32 %r, 1;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r; call.uni (b), deeper, (a); ld.param.b32 %r, [b]; }
  st.global.b32 [%out], %r;
  ret;
}
.visible .entry tells(.param .u64 out) {
  .shared .align 8 .b8 words[64];
  .local .align 8 .b8 own[64];
  .reg .u64 %out, %a;
  ld.param.u64 %out, [out];
  mov.u64 %a, words;
  cvta.shared.u64 %a, %a;
  st.global.u64 [%out], %a;
  mov.u64 %a, own;
  cvta.local.u64 %a, %a;
  st.global.u64 [%out+8], %a;
  ret;
}
.visible .entry follows(.param .u64 at) {
  .reg .u64 %a;
  .reg .b32 %r;
  ld.param.u64 %a, [at];
  ld.volatile.global.b32 %r, [%a];
  ret;
}
)";

CUmodule kernels() {
  conformance::context();
  CUmodule module = nullptr;
  CU_CHECK(cuModuleLoadData(&module, kKernels));
  return module;
}

CUfunction kernel(CUmodule module, const char* name) {
  CUfunction function = nullptr;
  CU_CHECK(cuModuleGetFunction(&function, module, name));
  return function;
}

CUresult end_of(const char* name) {
  const CUfunction function = kernel(kernels(), name);
  CUdeviceptr out = 0;
  CU_CHECK(cuMemAlloc(&out, 64));
  void* arguments[] = {&out};
  CU_CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  return cuCtxSynchronize();
}

// What an instruction for global memory does with an address of another kernel's shared or local memory.
CUresult end_of_following(int which) {
  const CUmodule module = kernels();
  const CUfunction tells = kernel(module, "tells"), follows = kernel(module, "follows");
  CUdeviceptr out = 0, at[2] = {};
  CU_CHECK(cuMemAlloc(&out, 64));
  void* arguments[] = {&out};
  CU_CHECK(cuLaunchKernel(tells, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(at, out, sizeof at));
  void* followed[] = {&at[which]};
  CU_CHECK(cuLaunchKernel(follows, 1, 1, 1, 1, 1, 1, 0, nullptr, followed, nullptr));
  return cuCtxSynchronize();
}

}  // namespace

FRESH_CASE("The word before a block of the heap may be overwritten, and blocks are aligned to 16 bytes", "[heap]") {
  const CUfunction counts = kernel(kernels(), "counts");
  CUdeviceptr out = 0;
  unsigned long long got[3] = {};
  CU_CHECK(cuMemAlloc(&out, sizeof got));
  void* arguments[] = {&out};
  ANSWERS(cuLaunchKernel(counts, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoH(got, out, sizeof got), CUDA_SUCCESS);
  CHECK(got[0] == 3);
  CHECK(got[1] == 0);
  CHECK(got[2] != 0);  // malloc(0)
}

FRESH_CASE("A second free of one block ends the kernel", "[heap]") {
  ANSWERS(end_of("twice"), CUDA_ERROR_LAUNCH_FAILED);
}

FRESH_CASE("free of an address without memory faults", "[heap]") {
  ANSWERS(end_of("null"), CUDA_ERROR_ILLEGAL_ADDRESS);
}

FRESH_CASE("A recursion without an end leaves its stack", "[fault]") {
  ANSWERS(end_of("recurses"), CUDA_ERROR_ILLEGAL_ADDRESS);
}

FRESH_CASE("Another kernel's shared memory is of no address space that global loads know", "[fault]") {
  ANSWERS(end_of_following(0), CUDA_ERROR_INVALID_ADDRESS_SPACE);
}

FRESH_CASE("Another kernel's local memory is of no address space that global loads know", "[fault]") {
  ANSWERS(end_of_following(1), CUDA_ERROR_INVALID_ADDRESS_SPACE);
}
