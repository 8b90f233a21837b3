// Kernels that launch kernels, and grids that synchronize.
#include "tests/conformance/device_runtime.hpp"

namespace {

// What Python's compiler writes for a grid that synchronises: names of libcudadevrt. Each round adds what the block
// before has written in the round before.
const char kRounds[] = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b64 h) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 h, .param .b32 flags);
.visible .entry rounds(.param .u64 data, .param .u32 n) {
  .reg .u64 %data, %own, %h;
  .reg .u32 %n, %i, %blocks, %next, %v, %w, %t, %r;
  .reg .pred %p, %q;
  ld.param.u64 %data, [data];
  ld.param.u32 %n, [n];
  mov.u32 %i, %ctaid.x;
  mov.u32 %t, %tid.x;
  mov.u32 %blocks, %nctaid.x;
  setp.eq.u32 %q, %t, 0;
  {
    .param .b32 s;
    .param .b64 o;
    st.param.b32 [s], 1;
    call.uni (o), cudaCGGetIntrinsicHandle, (s);
    ld.param.b64 %h, [o];
  }
AGAIN:
  add.u32 %next, %i, 1;
  rem.u32 %next, %next, %blocks;
  mad.wide.u32 %own, %next, 4, %data;
  ld.volatile.global.u32 %v, [%own];
  {
    .param .b64 a;
    .param .b32 b;
    .param .b32 o;
    st.param.b64 [a], %h;
    st.param.b32 [b], 0;
    call.uni (o), cudaCGSynchronize, (a, b);
    ld.param.b32 %r, [o];
  }
  mad.wide.u32 %own, %i, 4, %data;
  ld.volatile.global.u32 %w, [%own];
  add.u32 %w, %w, %v;
  add.u32 %w, %w, %r;
  @%q st.volatile.global.u32 [%own], %w;
  {
    .param .b64 a;
    .param .b32 b;
    .param .b32 o;
    st.param.b64 [a], %h;
    st.param.b32 [b], 0;
    call.uni (o), cudaCGSynchronize, (a, b);
    ld.param.b32 %r, [o];
  }
  sub.u32 %n, %n, 1;
  setp.ne.u32 %p, %n, 0;
  @%p bra AGAIN;
  ret;
}
)";

}  // namespace

FRESH_CASE("A cooperative grid synchronises by the names of the device runtime", "[launch]") {
  conformance::context();
  CUmodule alone = nullptr, mod = nullptr;
  ANSWERS(cuModuleLoadData(&alone, kRounds), CUDA_ERROR_INVALID_PTX);
  CUlinkState link = nullptr;
  CU_CHECK(cuLinkCreate(0, nullptr, nullptr, &link));
  CU_CHECK(
      cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(kRounds), sizeof kRounds, "rounds", 0, nullptr, nullptr));
  if (add_runtime(link) != CUDA_SUCCESS) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  void* image = nullptr;
  std::size_t size = 0;
  ANSWERS(cuLinkComplete(link, &image, &size), CUDA_SUCCESS);
  CU_CHECK(cuModuleLoadData(&mod, image));
  CUfunction rounds = nullptr;
  CU_CHECK(cuModuleGetFunction(&rounds, mod, "rounds"));
  constexpr unsigned kBlocks = 40, kRoundCount = 10;
  CUdeviceptr data = 0;
  unsigned n = kRoundCount, expected[kBlocks], got[kBlocks] = {};
  for (unsigned i = 0; i < kBlocks; ++i) expected[i] = i + 1;
  CU_CHECK(cuMemAlloc(&data, sizeof expected));
  CU_CHECK(cuMemcpyHtoD(data, expected, sizeof expected));
  void* a[] = {&data, &n};
  ANSWERS(cuLaunchCooperativeKernel(rounds, kBlocks, 1, 1, 64, 1, 1, 0, nullptr, a), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  CU_CHECK(cuMemcpyDtoH(got, data, sizeof got));
  for (unsigned round = 0; round < kRoundCount; ++round) {
    unsigned before[kBlocks];
    std::memcpy(before, expected, sizeof before);
    for (unsigned i = 0; i < kBlocks; ++i) expected[i] += before[(i + 1) % kBlocks];
  }
  CHECK(std::memcmp(got, expected, sizeof got) == 0);
  CU_CHECK(cuLinkDestroy(link));
}

namespace {

// What nvcc -rdc=true writes for nest<<<2, 1>>>(data, depth - 1), by hand: counts its runs by depth.
const char kNest[] = R"(
.version 7.8
.target sm_90
.address_size 64
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 .b8 grid[12],
                                                             .param .align 4 .b8 block[12], .param .b32 shared);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 buffer, .param .b64 stream);
.visible .entry nest(.param .u64 data, .param .u32 depth) {
  .reg .u64 %data, %at, %buffer, %self;
  .reg .u32 %depth, %r;
  .reg .pred %p;
  ld.param.u64 %data, [data];
  ld.param.u32 %depth, [depth];
  mad.wide.u32 %at, %depth, 4, %data;
  atom.global.add.u32 %r, [%at], 1;
  setp.eq.u32 %p, %depth, 0;
  @%p ret;
  sub.u32 %depth, %depth, 1;
  mov.u64 %self, nest;
  {
    .param .b64 f;
    .param .align 4 .b8 g[12];
    .param .align 4 .b8 b[12];
    .param .b32 s;
    .param .b64 o;
    st.param.b64 [f], %self;
    st.param.b32 [g], 2;
    st.param.b32 [g+4], 1;
    st.param.b32 [g+8], 1;
    st.param.b32 [b], 1;
    st.param.b32 [b+4], 1;
    st.param.b32 [b+8], 1;
    st.param.b32 [s], 0;
    call.uni (o), __cudaCDP2GetParameterBufferV2, (f, g, b, s);
    ld.param.b64 %buffer, [o];
  }
  setp.eq.u64 %p, %buffer, 0;
  @%p ret;
  st.u64 [%buffer], %data;
  st.u32 [%buffer+8], %depth;
  {
    .param .b64 b;
    .param .b64 s;
    .param .b32 o;
    st.param.b64 [b], %buffer;
    st.param.b64 [s], 0;
    call.uni (o), __cudaCDP2LaunchDeviceV2, (b, s);
    ld.param.b32 %r, [o];
  }
  ret;
}
)";

}  // namespace

FRESH_CASE("Kernels launch kernels, and are done when those are", "[launch]") {
  conformance::context();
  CUlinkState link = nullptr;
  CU_CHECK(cuLinkCreate(0, nullptr, nullptr, &link));
  CU_CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(kNest), sizeof kNest, "nest", 0, nullptr, nullptr));
  if (add_runtime(link) != CUDA_SUCCESS) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  void* image = nullptr;
  std::size_t size = 0;
  CUmodule mod = nullptr;
  CUfunction nest = nullptr;
  CUdeviceptr data = 0;
  ANSWERS(cuLinkComplete(link, &image, &size), CUDA_SUCCESS);
  CU_CHECK(cuModuleLoadData(&mod, image));
  CU_CHECK(cuModuleGetFunction(&nest, mod, "nest"));
  CU_CHECK(cuMemAlloc(&data, 16));
  unsigned depth = 3, runs[4] = {};
  void* a[] = {&data, &depth};
  CUstream s = nullptr;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuMemsetD32Async(data, 0, 4, s));
  ANSWERS(cuLaunchKernel(nest, 1, 1, 1, 1, 1, 1, 0, s, a, nullptr), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoHAsync(runs, data, sizeof runs, s), CUDA_SUCCESS);
  ANSWERS(cuStreamSynchronize(s), CUDA_SUCCESS);
  CHECK(runs[3] == 1);
  CHECK(runs[2] == 2);
  CHECK(runs[1] == 4);
  CHECK(runs[0] == 8);
}

namespace {

// Written by hand, as nvcc -rdc=true writes them: again<<<1, 1, 0, cudaStreamTailLaunch>>>(left), and a kernel that
// allocates memory on the heap, fills it, copies rows of 4 bytes (pitch 8) from it, and makes an allocation that fails.
const char kRuntimeCalls[] = R"(
.version 7.8
.target sm_90
.address_size 64
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 .b8 grid[12],
                                                             .param .align 4 .b8 block[12], .param .b32 shared);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 buffer, .param .b64 stream);
.extern .func (.param .b32 r) __cudaCDP2Malloc(.param .b64 at, .param .b64 bytes);
.extern .func (.param .b32 r) __cudaCDP2Free(.param .b64 pointer);
.extern .func (.param .b32 r) __cudaCDP2MemsetAsync(.param .b64 to, .param .b32 value, .param .b64 bytes,
                                                    .param .b64 stream);
.extern .func (.param .b32 r) __cudaCDP2Memcpy2DAsync(.param .b64 to, .param .b64 to_pitch, .param .b64 from,
                                                      .param .b64 from_pitch, .param .b64 width, .param .b64 height,
                                                      .param .b32 kind, .param .b64 stream);
.extern .func (.param .b64 r) __cudaCDP2GetErrorString(.param .b32 error);
.visible .entry again(.param .u64 left) {
  .reg .u64 %left, %buffer, %self;
  .reg .u32 %r;
  .reg .pred %p;
  ld.param.u64 %left, [left];
  ld.global.u32 %r, [%left];
  sub.u32 %r, %r, 1;
  st.global.u32 [%left], %r;
  setp.eq.u32 %p, %r, 0;
  @%p ret;
  mov.u64 %self, again;
  {
    .param .b64 f;
    .param .align 4 .b8 g[12];
    .param .align 4 .b8 b[12];
    .param .b32 s;
    .param .b64 o;
    st.param.b64 [f], %self;
    st.param.b32 [g], 1;
    st.param.b32 [g+4], 1;
    st.param.b32 [g+8], 1;
    st.param.b32 [b], 1;
    st.param.b32 [b+4], 1;
    st.param.b32 [b+8], 1;
    st.param.b32 [s], 0;
    call.uni (o), __cudaCDP2GetParameterBufferV2, (f, g, b, s);
    ld.param.b64 %buffer, [o];
  }
  setp.eq.u64 %p, %buffer, 0;
  @%p ret;
  st.u64 [%buffer], %left;
  {
    .param .b64 b;
    .param .b64 s;
    .param .b32 o;
    st.param.b64 [b], %buffer;
    st.param.b64 [s], 3;
    call.uni (o), __cudaCDP2LaunchDeviceV2, (b, s);
    ld.param.b32 %r, [o];
  }
  ret;
}
.visible .entry takes(.param .u64 out) {
  .local .align 8 .b8 place[8];
  .reg .u64 %out, %at, %heap, %wide;
  .reg .u32 %r;
  ld.param.u64 %out, [out];
  mov.u64 %at, place;
  cvta.local.u64 %at, %at;
  {
    .param .b64 a;
    .param .b64 n;
    .param .b32 o;
    st.param.b64 [a], %at;
    st.param.b64 [n], 64;
    call.uni (o), __cudaCDP2Malloc, (a, n);
    ld.param.b32 %r, [o];
  }
  st.global.u32 [%out], %r;
  ld.u64 %heap, [%at];
  st.u32 [%heap+60], 77;
  ld.u32 %r, [%heap+60];
  st.global.u32 [%out+4], %r;
  {
    .param .b64 p;
    .param .b32 o;
    st.param.b64 [p], %heap;
    call.uni (o), __cudaCDP2Free, (p);
    ld.param.b32 %r, [o];
  }
  st.global.u32 [%out+8], %r;
  {
    .param .b64 a;
    .param .b64 n;
    .param .b32 o;
    st.param.b64 [a], %at;
    st.param.b64 [n], 0x4000000000;
    call.uni (o), __cudaCDP2Malloc, (a, n);
    ld.param.b32 %r, [o];
  }
  st.global.u32 [%out+12], %r;
  {
    .param .b32 e;
    .param .b64 o;
    st.param.b32 [e], 2;
    call.uni (o), __cudaCDP2GetErrorString, (e);
    ld.param.b64 %wide, [o];
  }
  ld.u8 %r, [%wide+7];
  st.global.u32 [%out+16], %r;
  add.u64 %wide, %out, 32;
  {
    .param .b64 t;
    .param .b32 v;
    .param .b64 n;
    .param .b64 s;
    .param .b32 o;
    st.param.b64 [t], %wide;
    st.param.b32 [v], 0x25;
    st.param.b64 [n], 24;
    st.param.b64 [s], 0;
    call.uni (o), __cudaCDP2MemsetAsync, (t, v, n, s);
    ld.param.b32 %r, [o];
  }
  st.global.u32 [%out+20], %r;
  add.u64 %at, %out, 64;
  {
    .param .b64 t;
    .param .b64 tp;
    .param .b64 f;
    .param .b64 fp;
    .param .b64 w;
    .param .b64 h;
    .param .b32 k;
    .param .b64 s;
    .param .b32 o;
    st.param.b64 [t], %at;
    st.param.b64 [tp], 8;
    st.param.b64 [f], %wide;
    st.param.b64 [fp], 4;
    st.param.b64 [w], 4;
    st.param.b64 [h], 3;
    st.param.b32 [k], 3;
    st.param.b64 [s], 0;
    call.uni (o), __cudaCDP2Memcpy2DAsync, (t, tp, f, fp, w, h, k, s);
    ld.param.b32 %r, [o];
  }
  st.global.u32 [%out+24], %r;
  ret;
}
)";

}  // namespace

FRESH_CASE("A kernel's tail may be itself, any number of times", "[launch]") {
  conformance::context();
  const CUmodule mod = with_runtime(kRuntimeCalls);
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  CUfunction again = nullptr;
  CUdeviceptr left = 0;
  CU_CHECK(cuModuleGetFunction(&again, mod, "again"));
  CU_CHECK(cuMemAlloc(&left, 4));
  CU_CHECK(cuMemsetD32(left, 100000, 1));
  void* a[] = {&left};
  ANSWERS(cuLaunchKernel(again, 1, 1, 1, 1, 1, 1, 0, nullptr, a, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  unsigned got = 1;
  CU_CHECK(cuMemcpyDtoH(&got, left, 4));
  CHECK(got == 0);
}

FRESH_CASE("Kernels take memory of the heap, fill and copy, by the device runtime", "[launch]") {
  conformance::context();
  const CUmodule mod = with_runtime(kRuntimeCalls);
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  unsigned kernels = 0, got[32] = {};
  CU_CHECK(cuModuleGetFunctionCount(&kernels, mod));
  // The device runtime's own kernels count, too: an H200 has 32 more of them, the simulator none.
  CHECK((conformance::on_simulator() ? kernels == 2 : kernels >= 2));
  CUfunction takes = nullptr;
  CUdeviceptr out = 0;
  CU_CHECK(cuModuleGetFunction(&takes, mod, "takes"));
  CU_CHECK(cuMemAlloc(&out, sizeof got));
  const unsigned old = 0x77777777;
  CU_CHECK(cuMemsetD32(out, old, 32));
  void* a[] = {&out};
  ANSWERS(cuLaunchKernel(takes, 1, 1, 1, 1, 1, 1, 0, nullptr, a, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  CU_CHECK(cuMemcpyDtoH(got, out, sizeof got));
  const unsigned fill = filled(0x25252525, got[8]);
  const unsigned expected[32] = {0,    77,   0,    2,   'm', 0,    0,   old,  fill, fill, fill,
                                 fill, fill, fill, old, old, fill, old, fill, old,  fill, old,
                                 old,  old,  old,  old, old, old,  old, old,  old,  old};
  for (int i = 0; i < 32; ++i) {  // "out of memory" has its m at 7
    CAPTURE(i);
    CHECK(got[i] == expected[i]);
  }
}

namespace {

constexpr const char* kReadsItsChild = "A kernel reads what its child may be writing";
constexpr const char* kReadsBefore = "A kernel reads what its child writes later, and gives it what it has written";

// A kernel with one parameter, out.
std::string entry(const char* name, const std::string& body) {
  return std::string(".visible .entry ") + name +
         "(.param .u64 out) {\n.reg .u64 %out, %w, %f; .reg .u32 %r; .reg .pred %p;\nld.param.u64 %out, [out];\n" +
         body + "LAST:\nret;\n}\n";
}

// One block of one thread of `child`, which gets %out; nothing follows if the launch is refused.
std::string launch_of(const char* child) {
  return std::string("mov.u64 %f, ") + child +
         ";\n{ .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 o;\n"
         "st.param.b64 [f], %f; st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;\n"
         "st.param.b32 [b], 1; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; st.param.b32 [s], 0;\n"
         "call.uni (o), __cudaCDP2GetParameterBufferV2, (f, g, b, s); ld.param.b64 %w, [o]; }\n"
         "setp.eq.u64 %p, %w, 0; @%p bra LAST;\nst.u64 [%w], %out;\n"
         "{ .param .b64 b; .param .b64 s; .param .b32 o; st.param.b64 [b], %w; st.param.b64 [s], 0;\n"
         "call.uni (o), __cudaCDP2LaunchDeviceV2, (b, s); ld.param.b32 %r, [o]; }\n";
}

const std::string kLaunchers =
    R"(.version 7.8
.target sm_90
.address_size 64
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 .b8 grid[12],
                                                             .param .align 4 .b8 block[12], .param .b32 shared);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 buffer, .param .b64 stream);
)" + entry("counts", "atom.global.add.u32 %r, [%out], 1;\n") +
    entry("launches", launch_of("counts")) +
    entry("adds", "ld.global.u32 %r, [%out+4]; add.u32 %r, %r, 1; st.global.u32 [%out], %r;\n") +
    entry("reads_after", launch_of("adds") + "ld.global.u32 %r, [%out]; st.global.u32 [%out+8], %r;\n") +
    entry("reads_before",
          "mov.u32 %r, 7; st.global.u32 [%out+4], %r; ld.global.u32 %r, "
          "[%out]; st.global.u32 [%out+8], %r;\n" +
              launch_of("adds"));

// Three words afterwards.
std::vector<unsigned> words_after(const char* name, unsigned blocks, unsigned threads) {
  const CUmodule mod = with_runtime(kLaunchers.c_str());
  if (mod == nullptr) return {};
  CUfunction function = nullptr;
  CUdeviceptr out = 0;
  std::vector<unsigned> words(3);
  CU_CHECK(cuModuleGetFunction(&function, mod, name));
  CU_CHECK(cuMemAlloc(&out, 12));
  CU_CHECK(cuMemsetD32(out, 0, 3));
  void* arguments[] = {&out};
  ANSWERS(cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  CU_CHECK(cuMemcpyDtoH(words.data(), out, 12));
  return words;
}

}  // namespace

FRESH_CASE("Of 4,096 threads that launch a child each, as many succeed as launches may be pending", "[launch]") {
  conformance::context();
  const auto words = words_after("launches", 64, 64);
  if (words.empty()) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  CHECK(words[0] == 2048);
  CU_CHECK(cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 4096));
  CHECK(words_after("launches", 64, 64)[0] == 4096);
}

FRESH_CASE(kReadsItsChild, "[launch]") {
  conformance::context();
  const auto words = words_after("reads_after", 1, 1);
  if (words.empty()) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  CHECK(words[0] == 1);
}

FRESH_CASE(kReadsBefore, "[launch]") {
  conformance::context();
  const auto words = words_after("reads_before", 1, 1);
  if (words.empty()) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  CHECK(words[0] == 8);
  CHECK(words[2] == 0);
}

FRESH_CASE("The check for races names a kernel that reads what its child writes", "[launch]") {
  conformance::context();
  if (!conformance::on_simulator()) SKIP_TEST("it is about the simulator");
  for (const char* name : {kReadsItsChild, kReadsBefore}) {
    const auto ending = conformance::spawn({"conformance", conformance::as_pattern(name)},
                                           {{"CONFORMANCE_CHILD", "1"}, {"CUDASIM_CHECK", "race"}});
    CAPTURE(ending.output);
    CHECK(ending.good());
    CHECK((ending.output.find("reads_after, which launched it") != std::string::npos) == (name == kReadsItsChild));
    CHECK((ending.output.find("========= simulated GPU") == std::string::npos) == (name == kReadsBefore));
  }
}
