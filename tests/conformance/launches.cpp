// Launching: the arguments that are judged, parameters in both forms, cooperative limits, occupancy, wrong contexts.
#include "tests/conformance/scenario.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

FRESH_CASE("A launch judges its shape, its shared memory and its parameters", "[launch]") {
  const auto F = conformance::module();
  const CUfunction f = F("dynshared");
  CUdeviceptr out = 0;
  CU_CHECK(cuMemAlloc(&out, 4096));
  void* a[] = {&out};
  ANSWERS(cuLaunchKernel(f, 0, 1, 1, 32, 1, 1, 128, 0, a, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuLaunchKernel(f, 1, 1, 1, 0, 1, 1, 128, 0, a, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuLaunchKernel(f, 1, 1, 1, 1025, 1, 1, 128, 0, a, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuLaunchKernel(f, 1, 1, 1, 1024, 2, 1, 128, 0, a, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 65, 128, 0, a, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuLaunchKernel(f, 1, 65536, 1, 32, 1, 1, 128, 0, a, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 49152, 0, a, 0), CUDA_SUCCESS);
  ANSWERS(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 49153, 0, a, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 300000), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000), CUDA_SUCCESS);
  ANSWERS(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 100000, 0, a, 0), CUDA_SUCCESS);
  ANSWERS(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 100001, 0, a, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 128, 0, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuLaunchKernel(F("bounded"), 1, 1, 1, 256, 1, 1, 0, 0, a, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuLaunchKernel(F("bounded"), 1, 1, 1, 128, 1, 1, 0, 0, a, 0), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  std::size_t size = sizeof out;
  void* ex[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &out, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  ANSWERS(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 128, 0, nullptr, ex), CUDA_SUCCESS);
  ANSWERS(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 128, 0, a, ex), CUDA_ERROR_INVALID_VALUE);
  size = sizeof out + 1;  // more than the kernel's parameters take; fewer bytes are not noticed
  ANSWERS(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 128, 0, nullptr, ex), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  ANSWERS(cuLaunchKernel(nullptr, 1, 1, 1, 32, 1, 1, 0, 0, a, 0), CUDA_ERROR_INVALID_HANDLE);
  ANSWERS(cuLaunchKernel(F("empty_k"), 1, 1, 1, 32, 1, 1, 0, 0, nullptr, nullptr), CUDA_SUCCESS);
  ANSWERS(cuLaunchCooperativeKernel(F("empty_k"), 100000, 1, 1, 1024, 1, 1, 0, 0, nullptr),
          CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  ANSWERS(cuLaunchCooperativeKernel(F("empty_k"), 10, 1, 1, 128, 1, 1, 0, 0, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
}

FRESH_CASE("Parameters are copied when the launch is made", "[launch]") {
  const auto F = conformance::module();
  constexpr int n = 1000;
  std::vector<float> x(n, 1.5f), y(n, 2.25f), z(n);
  CUdeviceptr a = 0, b = 0, c = 0, coef = 0;
  const float one = 1.0f;
  CU_CHECK(cuMemAlloc(&a, n * 4));
  CU_CHECK(cuMemAlloc(&b, n * 4));
  CU_CHECK(cuMemAlloc(&c, n * 4));
  CU_CHECK(cuMemcpyHtoD(a, x.data(), n * 4));
  CU_CHECK(cuMemcpyHtoD(b, y.data(), n * 4));
  CU_CHECK(cuModuleGetGlobal(&coef, nullptr, F.mod, "coef"));
  CU_CHECK(cuMemcpyHtoD(coef, &one, 4));
  struct {
    CUdeviceptr a, b, c;
    int n;
  } parameters{a, b, c, n};
  std::size_t size = offsetof(decltype(parameters), n) + sizeof n;  // without the padding at its end
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  ANSWERS(cuLaunchKernel(F("vadd"), 4, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra), CUDA_SUCCESS);
  std::memset(&parameters, 0xff, sizeof parameters);
  ANSWERS(cuMemcpyDtoH(z.data(), c, n * 4), CUDA_SUCCESS);
  CHECK(z == std::vector<float>(n, 3.75f));
}

FRESH_CASE("cuLaunchKernelEx takes attributes, and refuses those that do not exist", "[launch]") {
  const auto F = conformance::module();
  CUlaunchAttribute attribute{};
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 32;
  config.blockDimY = config.blockDimZ = 1;
  ANSWERS(cuLaunchKernelEx(&config, F("empty_k"), nullptr, nullptr), CUDA_SUCCESS);
  config.attrs = &attribute;
  config.numAttrs = 1;
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  ANSWERS(cuLaunchKernelEx(&config, F("empty_k"), nullptr, nullptr), CUDA_SUCCESS);
  config.gridDimX = 100000;
  config.blockDimX = 1024;
  ANSWERS(cuLaunchKernelEx(&config, F("empty_k"), nullptr, nullptr), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  attribute.id = (CUlaunchAttributeID)999;
  ANSWERS(cuLaunchKernelEx(&config, F("empty_k"), nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuLaunchKernelEx(nullptr, F("empty_k"), nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
}

FRESH_CASE("Launch attributes have values that mean something", "[launch]") {
  const auto F = conformance::module();
  const CUfunction f = F("empty_k");
  CUlaunchAttribute attribute{};
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  const auto answer = [&](int id, int byte) {
    attribute.id = static_cast<CUlaunchAttributeID>(id);
    std::memset(&attribute.value, byte, sizeof attribute.value);
    return cuLaunchKernelEx(&config, f, nullptr, nullptr);
  };
  for (const int id : {0, 1, 2, 4, 5, 6, 8, 9, 10, 14}) ANSWERS(answer(id, 0), CUDA_SUCCESS);
  for (const int id : {3, 15}) ANSWERS(answer(id, 0), CUDA_ERROR_INVALID_VALUE);  // nothing that a kernel has
  for (const int id : {5, 9, 10, 14}) ANSWERS(answer(id, 0xff), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(answer(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 0xff), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  ANSWERS(answer(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, 0), CUDA_ERROR_INVALID_HANDLE);
  CUevent timed = nullptr, mark = nullptr;
  CU_CHECK(cuEventCreate(&timed, CU_EVENT_DEFAULT));
  CU_CHECK(cuEventCreate(&mark, CU_EVENT_DISABLE_TIMING));
  attribute.value.programmaticEvent.event = timed;
  ANSWERS(cuLaunchKernelEx(&config, f, nullptr, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  attribute.value.programmaticEvent.event = mark;
  ANSWERS(cuLaunchKernelEx(&config, f, nullptr, nullptr), CUDA_SUCCESS);
  ANSWERS(cuEventSynchronize(mark), CUDA_SUCCESS);
  config.attrs = nullptr;
  ANSWERS(cuLaunchKernelEx(&config, f, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

FRESH_CASE("With the wrong context current, the stream decides", "[launch]") {
  const auto F = conformance::module();
  CUmodule mod = F.mod;
  const CUfunction f = F("empty_k");
  CUfunction g = nullptr;
  CUstream s = nullptr;
  CUevent e = nullptr;
  CUcontext b = nullptr, x = nullptr;
  CU_CHECK(cuStreamCreate(&s, 0));
  CU_CHECK(cuEventCreate(&e, 0));
  CU_CHECK(cuCtxCreate(&b, nullptr, 0, F.dev));
  ANSWERS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0), CUDA_ERROR_INVALID_HANDLE);
  ANSWERS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, 0, 0), CUDA_SUCCESS);
  ANSWERS(cuEventRecord(e, 0), CUDA_ERROR_INVALID_HANDLE);
  ANSWERS(cuEventRecord(e, s), CUDA_SUCCESS);
  ANSWERS(cuStreamSynchronize(s), CUDA_SUCCESS);
  ANSWERS(cuModuleGetFunction(&g, mod, "vadd"), CUDA_SUCCESS);
  ANSWERS(cuModuleUnload(mod), CUDA_SUCCESS);
  ANSWERS(cuCtxGetCurrent(&x), CUDA_SUCCESS);
  SHOWS("b 1", "b " << (x == b));
}

FRESH_CASE("Occupancy is reckoned from threads, registers and shared memory", "[launch]") {
  const auto F = conformance::module();
  const CUfunction f = F("vadd");
  int nb = 0, g = 0, b = 0;
  ANSWERS(cuOccupancyMaxActiveBlocksPerMultiprocessor(&nb, f, 256, 0), CUDA_SUCCESS);
  SHOWS("8", nb);
  ANSWERS(cuOccupancyMaxActiveBlocksPerMultiprocessor(&nb, f, 1024, 0), CUDA_SUCCESS);
  SHOWS("2", nb);
  ANSWERS(cuOccupancyMaxActiveBlocksPerMultiprocessor(&nb, F("dynshared"), 128, 40000), CUDA_SUCCESS);
  SHOWS("5", nb);
  ANSWERS(cuOccupancyMaxActiveBlocksPerMultiprocessor(&nb, f, 0, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuOccupancyMaxActiveBlocksPerMultiprocessor(&nb, f, 2048, 0), CUDA_SUCCESS);
  SHOWS("0", nb);
  ANSWERS(cuOccupancyMaxPotentialBlockSize(&g, &b, f, nullptr, 0, 0), CUDA_SUCCESS);
  SHOWS("264 1024", g << " " << b);
}

FRESH_CASE("A kernel that is compiled for clusters has them however it is launched", "[launch]") {
  const auto made = conformance::context();
  int major = 0;
  CU_CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, made.dev));
  if (major < 9) return;  // no clusters there
  const char* text = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry rank(.param .u64 out) .explicitcluster .reqnctapercluster 2, 1, 1 {
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  mov.u32 %r2, %cluster_ctarank;
  mov.u32 %r3, %cluster_nctarank;
  mad.lo.u32 %r2, %r3, 10, %r2;
  st.global.u32 [%rd1], %r2;
  ret;
}
)";
  CUmodule mod = nullptr;
  CUfunction f = nullptr;
  CUdeviceptr out = 0;
  CU_CHECK(cuModuleLoadData(&mod, text));
  CU_CHECK(cuModuleGetFunction(&f, mod, "rank"));
  CU_CHECK(cuMemAlloc(&out, 16));
  void* a[] = {&out};
  ANSWERS(cuLaunchKernel(f, 4, 1, 1, 1, 1, 1, 0, 0, a, 0), CUDA_SUCCESS);
  std::vector<int> ranks(4);
  CU_CHECK(cuMemcpyDtoH(ranks.data(), out, 16));
  CHECK(ranks == std::vector<int>{20, 21, 20, 21});
  ANSWERS(cuLaunchKernel(f, 3, 1, 1, 1, 1, 1, 0, 0, a, 0), CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

namespace {

// Kernels that say how many blocks their cluster has, and how many their grid.
constexpr const char* kClusters = R"(.target sm_90
.address_size 64
.func told(.reg .b64 %out) {
  .reg .b32 %r<5>;
  mov.u32 %r1, %cluster_nctarank;
  mov.u32 %r2, %nctaid.x;
  mov.u32 %r3, %nctaid.y;
  mul.lo.u32 %r2, %r2, %r3;
  st.global.v2.u32 [%out], {%r1, %r2};
  ret;
}
.visible .entry any(.param .u64 out) { .reg .b64 %rd; ld.param.u64 %rd, [out]; call told, (%rd); ret; }
.visible .entry two(.param .u64 out) .reqnctapercluster 2, 1, 1 {
  .reg .b64 %rd; ld.param.u64 %rd, [out]; call told, (%rd); ret; }
.visible .entry some(.param .u64 out) .explicitcluster .maxclusterrank 4 {
  .reg .b64 %rd; ld.param.u64 %rd, [out]; call told, (%rd); ret; }
)";
// PTX ISA 9.0 has brought it.
constexpr const char* kCounted = R"(
.visible .entry counted(.param .u64 out) .reqntid 32 .reqnctapercluster 2, 2, 1 .blocksareclusters {
  .reg .b64 %rd; ld.param.u64 %rd, [out]; call told, (%rd); ret; }
)";

struct Clusters {
  CUdeviceptr out = 0;
  CUmodule mod = nullptr;
  bool there = false;   // no clusters below compute capability 9
  bool counts = false;  // blocks are clusters
  Clusters() {
    const auto made = conformance::context();
    int major = 0;
    CU_CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, made.dev));
    if (major < 9) return;
    there = true;
    int driver = 0;
    CU_CHECK(cuDriverGetVersion(&driver));
    counts = driver >= 13000;
    const std::string text =
        counts ? std::string(".version 9.0\n") + kClusters + kCounted : std::string(".version 7.8\n") + kClusters;
    CU_CHECK(cuModuleLoadData(&mod, text.c_str()));
    CU_CHECK(cuMemAlloc(&out, 8));
  }
  CUfunction operator()(const char* name) const {
    CUfunction function = nullptr;
    CU_CHECK(cuModuleGetFunction(&function, mod, name));
    return function;
  }
  // `cluster` 0: the launch says nothing of clusters.
  CUresult launch(CUfunction f, unsigned blocks, unsigned cluster) {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {cluster, 1, 1};
    CUlaunchConfig config{blocks, 1, 1, 32, 1, 1, 0, nullptr, &attribute, cluster == 0 ? 0u : 1u};
    void* arguments[] = {&out};
    return cuLaunchKernelEx(&config, f, arguments, nullptr);
  }
  std::string told() const {
    unsigned value[2] = {};
    CU_CHECK(cuMemcpyDtoH(value, out, 8));
    return std::to_string(value[0]) + " of " + std::to_string(value[1]);
  }
};

}  // namespace

FRESH_CASE("A launch cannot ask for other clusters than its kernel was compiled for", "[launch]") {
  Clusters made;
  if (!made.there) SKIP_TEST("clusters need compute capability 9.0");
  const CUfunction two = made("two"), some = made("some");
  ANSWERS(made.launch(two, 8, 0), CUDA_SUCCESS);
  SHOWS("2 of 8", made.told());
  ANSWERS(made.launch(two, 8, 2), CUDA_SUCCESS);
  ANSWERS(made.launch(two, 8, 1), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  ANSWERS(made.launch(two, 8, 4), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  ANSWERS(made.launch(some, 8, 0), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  ANSWERS(made.launch(some, 8, 4), CUDA_SUCCESS);
  SHOWS("4 of 8", made.told());
  ANSWERS(made.launch(some, 8, 8), CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

FRESH_CASE("A function's attributes say which clusters its launches have", "[launch]") {
  Clusters made;
  if (!made.there) SKIP_TEST("clusters need compute capability 9.0");
  const CUfunction f = made("any");
  ANSWERS(made.launch(f, 8, 0), CUDA_SUCCESS);
  SHOWS("1 of 8", made.told());
  ANSWERS(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2), CUDA_SUCCESS);
  ANSWERS(made.launch(f, 8, 0), CUDA_ERROR_INVALID_CLUSTER_SIZE);  // all of them, or none
  ANSWERS(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 1), CUDA_SUCCESS);
  ANSWERS(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1), CUDA_SUCCESS);
  ANSWERS(made.launch(f, 8, 0), CUDA_SUCCESS);
  SHOWS("2 of 8", made.told());
  ANSWERS(made.launch(f, 7, 0), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  ANSWERS(made.launch(f, 8, 4), CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

FRESH_CASE("A kernel may have its grids counted in clusters", "[launch]") {
  Clusters made;
  if (!made.counts) SKIP_TEST("blocks that are clusters need compute capability 9.0 and a driver of CUDA 13");
  ANSWERS(made.launch(made("counted"), 3, 0), CUDA_SUCCESS);
  SHOWS("4 of 12", made.told());
}

FRESH_CASE("How many clusters fit is a question about a size of cluster", "[launch]") {
  Clusters made;
  if (!made.there) SKIP_TEST("clusters need compute capability 9.0");
  int clusters = 0;
  CUlaunchConfig config{8, 1, 1, 128, 1, 1, 0, nullptr, nullptr, 0};
  ANSWERS(cuOccupancyMaxActiveClusters(&clusters, made("any"), &config), CUDA_SUCCESS);
  SHOWS("0", clusters);
  ANSWERS(cuOccupancyMaxActiveClusters(&clusters, made("two"), &config), CUDA_SUCCESS);
  CHECK(clusters > 0);
}

// The first launch interface is deprecated, but exported by every driver.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
FRESH_CASE("A function can be launched as in the first version of the interface", "[launch]") {
  const auto F = conformance::module();
  const CUfunction f = F("statshared");
  CUdeviceptr out = 0;
  int values[64] = {};
  CU_CHECK(cuMemAlloc(&out, sizeof values));
  ANSWERS(cuFuncSetBlockShape(f, 64, 1, 1), CUDA_SUCCESS);
  ANSWERS(cuParamSetv(f, 0, &out, sizeof out), CUDA_SUCCESS);
  ANSWERS(cuParamSetSize(f, sizeof out), CUDA_SUCCESS);
  ANSWERS(cuLaunchGrid(f, 1, 1), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoH(values, out, sizeof values), CUDA_SUCCESS);
  for (int i = 0; i < 64; ++i) CHECK(values[i] == (i ^ 1));
  ANSWERS(cuFuncSetBlockShape(f, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuLaunchGrid(f, 0, 1), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuLaunchGrid(f, 1, 70000), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuFuncSetSharedSize(f, 49 << 10), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuParamSeti(f, 100, 1), CUDA_SUCCESS);  // past its parameters: nobody looks
  ANSWERS(cuParamSetSize(f, sizeof out + 4), CUDA_SUCCESS);
  ANSWERS(cuLaunchGrid(f, 1, 1), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
}
#pragma GCC diagnostic pop

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

// The toolkit's archive if there is one; the simulator needs nothing of it, and takes any.
CUresult add_runtime(CUlinkState link) {
  if (conformance::on_simulator()) {
    char archive[] = "!<arch>\n";
    return cuLinkAddData(link, CU_JIT_INPUT_LIBRARY, archive, sizeof archive - 1, "libcudadevrt.a", 0, nullptr,
                         nullptr);
  }
  return cuLinkAddFile(link, CU_JIT_INPUT_LIBRARY, "/usr/local/cuda/lib64/libcudadevrt.a", 0, nullptr, nullptr);
}

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

// By hand what nvcc -rdc=true writes for again<<<1, 1, 0, cudaStreamTailLaunch>>>(left), and for memory that a kernel
// takes of the heap, fills, copies out of by rows of 4 in 8 bytes, and asks for in vain.
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

// What a kernel's fill with `value` has left: NVIDIA's device runtime of CUDA 13.0 fills with 0 whatever the value is
// (an H200, driver 580.159), the simulator's as the manual says.
unsigned filled(unsigned value, unsigned got) { return !conformance::on_simulator() && got == 0 ? 0 : value; }

// The module of a text with the device runtime, or null where there is none.
CUmodule with_runtime(const std::string& text) {
  CUlinkState link = nullptr;
  CU_CHECK(cuLinkCreate(0, nullptr, nullptr, &link));
  CU_CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(text.c_str()), text.size() + 1, "calls", 0, nullptr,
                         nullptr));
  if (add_runtime(link) != CUDA_SUCCESS) return nullptr;
  void* image = nullptr;
  std::size_t size = 0;
  CUmodule mod = nullptr;
  ANSWERS(cuLinkComplete(link, &image, &size), CUDA_SUCCESS);
  CU_CHECK(cuModuleLoadData(&mod, image));
  CU_CHECK(cuLinkDestroy(link));
  return mod;
}

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

// An argument of a function of the device runtime, as PTX: what it is declared as, and how it is passed.
struct Passed {
  std::string type;
  unsigned count;  // of words; 0: not an array
  std::vector<std::string> words;
};
Passed word(unsigned value) { return {".b32", 0, {std::to_string(value)}}; }
Passed wide(unsigned long long value) { return {".b64", 0, {std::to_string(value)}}; }
Passed wide(const char* reg) { return {".b64", 0, {reg}}; }
Passed dim(unsigned x, unsigned y, unsigned z) {
  return {".b32", 3, {std::to_string(x), std::to_string(y), std::to_string(z)}};
}
Passed words(std::vector<std::string> each) {  // of 8 bytes: a register each, or a number
  const auto count = static_cast<unsigned>(each.size());
  return {".b64", count, std::move(each)};
}

struct Asked {
  std::string name;  // behind "cuda"
  std::vector<Passed> arguments;
  bool answers_wide = false;
};

// Kernels that call the device runtime, as a compiler of CUDA 12 and later writes the calls.
class Asking {
 public:
  // A call, for a kernel's text; its answer comes into %r or %w.
  std::string call(const Asked& asked) {
    const std::string name = "__cudaCDP2" + asked.name, type = asked.answers_wide ? ".b64" : ".b32";
    std::string declared, made, list;
    for (std::size_t i = 0; i < asked.arguments.size(); ++i) {
      const Passed& each = asked.arguments[i];
      const std::string p = "p" + std::to_string(i), comma = i == 0 ? "" : ", ";
      const unsigned bytes = each.type == ".b64" ? 8 : 4;
      const std::string brackets = "[" + std::to_string(each.count * bytes) + "]";
      const std::string before =
          each.count == 0 ? ".param " + each.type + " " : ".param .align " + std::to_string(bytes) + " .b8 ";
      const std::string parameter = before + p + (each.count == 0 ? "" : brackets);
      declared += comma + parameter;
      made += "  " + parameter + ";\n";
      for (std::size_t at = 0; at < each.words.size(); ++at) {
        made += "  st.param" + each.type + " [" + p + "+" + std::to_string(at * bytes) + "], " + each.words[at] + ";\n";
      }
      list += comma + p;
    }
    declared_[name] = ".extern .func (.param " + type + " o) " + name + "(" + declared + ");\n";
    return "  {\n" + made + "  .param " + type + " o;\n  call.uni (o), " + name + ", (" + list + ");\n  ld.param" +
           type + " " + (asked.answers_wide ? "%w" : "%r") + ", [o];\n  }\n";
  }
  // A kernel; its parameter is in %out, and %t is the thread's number.
  void kernel(const std::string& name, const std::string& body) {
    kernels_ += ".visible .entry " + name + "(.param .u64 out) {\n" +
                "  .reg .u64 %out, %at, %w, %k;\n  .reg .u32 %r, %t;\n  .reg .pred %p;\n" +
                "  ld.param.u64 %out, [out];\n  mov.u32 %t, %tid.x;\n" + body + "  ret;\n}\n";
  }
  std::string text() const {
    std::string all = ".version 7.8\n.target sm_90\n.address_size 64\n";
    for (const auto& [name, declared] : declared_) all += declared;
    return all + kernels_;
  }

 private:
  std::map<std::string, std::string> declared_;
  std::string kernels_;
};

std::string store(unsigned index) { return "  st.global.u32 [%out+" + std::to_string(4 * index) + "], %r;\n"; }
std::string at(unsigned byte) { return "  add.u64 %at, %out, " + std::to_string(byte) + ";\n"; }

// Runs a kernel with the address of `memory` on the device, and gives back what is there then.
template <std::size_t N>
void run_asking(CUmodule mod, const char* kernel, unsigned threads, unsigned (&memory)[N]) {
  CUfunction f = nullptr;
  CUdeviceptr out = 0;
  CU_CHECK(cuModuleGetFunction(&f, mod, kernel));
  CU_CHECK(cuMemAlloc(&out, sizeof memory));
  CU_CHECK(cuMemcpyHtoD(out, memory, sizeof memory));
  void* a[] = {&out};
  ANSWERS(cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, nullptr, a, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  CU_CHECK(cuMemcpyDtoH(memory, out, sizeof memory));
  CU_CHECK(cuMemFree(out));
}

}  // namespace

FRESH_CASE("The device runtime's last error is a thread's own, and begins as none in each launch", "[launch]") {
  conformance::context();
  Asking asking;
  const std::string peek = asking.call({"PeekAtLastError", {}}), get = asking.call({"GetLastError", {}});
  const std::string own = "  mad.wide.u32 %at, %t, 4, %out;\n";
  asking.kernel("fails", "  setp.ne.u32 %p, %t, 0;\n  @%p bra PEEK;\n" + at(512) +
                             asking.call({"Malloc", {wide("%at"), wide(0x4000000000)}}) + store(64) +
                             "PEEK:\n  bar.sync 0;\n" + peek + own + "  st.global.u32 [%at], %r;\n  bar.sync 0;\n" +
                             "  @%p ret;\n" + get + store(65) + get + store(66) + at(512) +
                             asking.call({"Malloc", {wide("%at"), wide(0x4000000000)}}));
  asking.kernel("looks", peek + own + "  st.global.u32 [%at], %r;\n");
  const CUmodule mod = with_runtime(asking.text());
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  constexpr unsigned kOutOfMemory = 2;  // cudaErrorMemoryAllocation
  unsigned got[160];
  std::fill(std::begin(got), std::end(got), 77);
  run_asking(mod, "fails", 64, got);
  for (unsigned i = 0; i < 67; ++i) {
    CAPTURE(i);
    CHECK(got[i] == (i == 0 || i == 64 || i == 65 ? kOutOfMemory : 0));
  }
  std::fill(std::begin(got), std::end(got), 77);
  run_asking(mod, "looks", 64, got);
  for (unsigned i = 0; i < 64; ++i) {
    CAPTURE(i);
    CHECK(got[i] == 0);
  }
}

namespace {
constexpr const char* kRefusedChild = "A child that the device cannot have is refused where it is launched";
}  // namespace

FRESH_CASE(kRefusedChild, "[launch]") {
  conformance::context();
  struct Shape {
    const char* kernel;
    unsigned grid[3], block[3], shared;
    bool runs;
  };
  const Shape shapes[] = {
      {"child", {1, 1, 1}, {1, 1, 1}, 0, true},       {"child", {1, 1, 1}, {2000, 1, 1}, 0, false},
      {"child", {1, 1, 1}, {0, 1, 1}, 0, false},      {"child", {1, 1, 1}, {32, 33, 1}, 0, false},
      {"child", {1, 1, 1}, {1024, 1, 1}, 0, true},    {"child", {1, 1, 1}, {1, 1, 65}, 0, false},
      {"child", {0, 1, 1}, {1, 1, 1}, 0, false},      {"child", {1, 0, 1}, {1, 1, 1}, 0, false},
      {"child", {1, 65536, 1}, {1, 1, 1}, 0, false},  {"child", {0x80000000, 1, 1}, {1, 1, 1}, 0, false},
      {"child", {1, 1, 1}, {1, 1, 1}, 300000, false}, {"child", {1, 1, 1}, {1, 1, 1}, 65536, false},
      {"child", {1, 1, 1}, {1, 1, 1}, 49153, false},  {"child", {1, 1, 1}, {1, 1, 1}, 49152, true},
      {"wide", {1, 1, 1}, {1, 1, 1}, 16384, true},    {"wide", {1, 1, 1}, {1, 1, 1}, 16385, false},
      {"bounded", {1, 1, 1}, {64, 1, 1}, 0, true},    {"bounded", {1, 1, 1}, {65, 1, 1}, 0, false},
  };
  Asking asking;
  const std::string count = "  setp.ne.u32 %p, %t, 0;\n  @%p ret;\n  atom.global.add.u32 %r, [%out+12], 1;\n";
  asking.kernel("child", count);
  asking.kernel("wide", "  .shared .b32 own[8192];\n  st.shared.u32 [own], %t;\n" + count);
  std::string of = asking.call({"PeekAtLastError", {}}) + store(0);
  for (const unsigned i : {1u, 2u}) of += asking.call({"GetLastError", {}}) + store(i);
  const auto name = [&](const Shape& shape) { return "asks" + std::to_string(&shape - shapes); };
  for (const Shape& s : shapes) {
    const Asked place{
        "GetParameterBufferV2",
        {wide("%k"), dim(s.grid[0], s.grid[1], s.grid[2]), dim(s.block[0], s.block[1], s.block[2]), word(s.shared)},
        true};
    asking.kernel(name(s), "  mov.u64 %k, " + std::string(s.kernel) + ";\n" + asking.call(place) +
                               "  setp.eq.u64 %p, %w, 0;\n  @%p bra LAST;\n  st.u64 [%w], %out;\n" +
                               asking.call({"LaunchDeviceV2", {wide("%w"), wide(0ull)}}) + "LAST:\n" + of);
  }
  std::string text = asking.text();
  const std::string counts =
      "{\n  .reg .u64 %out;\n  .reg .u32 %r, %t;\n  .reg .pred %p;\n  ld.param.u64 %out, [out];\n" +
      std::string("  mov.u32 %t, %tid.x;\n") + count + "  ret;\n}\n";
  text.insert(text.find(".visible .entry asks"),
              ".visible .entry bounded(.param .u64 out) .maxntid 64, 1, 1 " + counts);
  const CUmodule mod = with_runtime(text);
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  for (const Shape& shape : shapes) {
    for (int time = 0; time < 2; ++time) {
      CAPTURE(name(shape), time);
      unsigned got[4] = {77, 77, 77, 0};
      run_asking(mod, name(shape).c_str(), 1, got);
      const unsigned error = shape.runs ? 0 : 9;  // cudaErrorInvalidConfiguration
      CHECK(got[0] == error);
      CHECK(got[1] == error);
      CHECK(got[2] == 0);
      CHECK(got[3] == (shape.runs ? 1u : 0u));
    }
  }
}

// Children that have ended no longer count, and a single thread launches them no faster than they end: an H200 runs all
// of them even with a limit of 32. The simulator runs them later and never counts them.
FRESH_CASE("A thread may launch more children than the limit of pending launches says", "[launch]") {
  conformance::context();
  Asking asking;
  asking.kernel("child", "  atom.global.add.u32 %r, [%out], 1;\n");
  const Asked place{"GetParameterBufferV2", {wide("%k"), dim(1, 1, 1), dim(1, 1, 1), word(0)}, true};
  asking.kernel("many", "  mov.u32 %t, 5000;\n  mov.u64 %k, child;\nNEXT:\n" + asking.call(place) +
                            "  setp.eq.u64 %p, %w, 0;\n  @%p bra LAST;\n  st.u64 [%w], %out;\n" +
                            asking.call({"LaunchDeviceV2", {wide("%w"), wide(0ull)}}) +
                            "  sub.u32 %t, %t, 1;\n  setp.ne.u32 %p, %t, 0;\n  @%p bra NEXT;\nLAST:\n" +
                            asking.call({"GetLastError", {}}) + store(1));
  const CUmodule mod = with_runtime(asking.text());
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  unsigned got[2] = {0, 77};
  run_asking(mod, "many", 1, got);
  CHECK(got[0] == 5000);
  CHECK(got[1] == 0);
}

namespace {
constexpr const char* kPendingTails = "A kernel has as many tail launches pending as the limit says, and no more";
constexpr const char* kManyThreads = "Threads of many warps launch all their children if the limit has room for them";
constexpr const char* kHalfWritten = "A kernel copies what nobody has written, and reads the rest";
}  // namespace

namespace {

constexpr unsigned kLaunchers = 128, kChildrenOfEach = 40;

// A kernel in which each thread launches children until one is refused; a child counts for its thread. The last error
// of a thread that was refused follows the counts.
std::string launch_many(Asking& asking, unsigned long long stream) {
  const Asked place{"GetParameterBufferV2", {wide("%k"), dim(1, 1, 1), dim(1, 1, 1), word(0)}, true};
  return "  mov.u64 %k, child;\n  mad.wide.u32 %at, %t, 4, %out;\n  mov.u32 %t, " + std::to_string(kChildrenOfEach) +
         ";\nNEXT:\n" + asking.call(place) + "  setp.eq.u64 %p, %w, 0;\n  @%p bra REFUSED;\n  st.u64 [%w], %at;\n" +
         asking.call({"LaunchDeviceV2", {wide("%w"), wide(stream)}}) +
         "  sub.u32 %t, %t, 1;\n  setp.ne.u32 %p, %t, 0;\n  @%p bra NEXT;\n  ret;\nREFUSED:\n" +
         asking.call({"GetLastError", {}}) + "  st.global.u32 [%at+" + std::to_string(4 * kLaunchers) + "], %r;\n";
}

}  // namespace

// A tail begins when its parent has ended, so it is pending until then. An H200 (driver 580) counts exactly the limit.
FRESH_CASE(kPendingTails, "[launch]") {
  conformance::context();
  Asking asking;
  asking.kernel("child", "  atom.global.add.u32 %r, [%out], 1;\n");
  asking.kernel("tails", launch_many(asking, 3));  // cudaStreamTailLaunch
  const CUmodule mod = with_runtime(asking.text());
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  constexpr unsigned kTooManyPending = 69, kAll = kLaunchers * kChildrenOfEach;  // cudaErrorLaunchPendingCountExceeded
  for (const unsigned limit : {2048u, 1000u, kAll}) {
    CAPTURE(limit);
    CU_CHECK(cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, limit));
    unsigned got[2 * kLaunchers] = {};
    run_asking(mod, "tails", kLaunchers, got);
    unsigned launched = 0;
    for (unsigned i = 0; i < kLaunchers; ++i) {
      CAPTURE(i);
      CHECK(got[kLaunchers + i] == (got[i] < kChildrenOfEach ? kTooManyPending : 0));
      launched += got[i];
    }
    CHECK(launched == limit);
  }
}

FRESH_CASE(kManyThreads, "[launch]") {
  conformance::context();
  Asking asking;
  asking.kernel("child", "  atom.global.add.u32 %r, [%out], 1;\n");
  asking.kernel("many", launch_many(asking, 0));
  const CUmodule mod = with_runtime(asking.text());
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  CU_CHECK(cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, kLaunchers * kChildrenOfEach));
  unsigned got[2 * kLaunchers] = {};
  run_asking(mod, "many", kLaunchers, got);
  for (unsigned i = 0; i < kLaunchers; ++i) {
    CAPTURE(i);
    CHECK(got[i] == kChildrenOfEach);
  }
}

FRESH_CASE(kHalfWritten, "[launch]") {
  conformance::context();
  Asking asking;
  // 16 bytes, their copy, and its copy; the host has written the first 8.
  asking.kernel("copies", "  add.u64 %at, %out, 16;\n" +
                              asking.call({"MemcpyAsync", {wide("%at"), wide("%out"), wide(16), word(3), wide(0ull)}}) +
                              "  add.u64 %k, %out, 32;\n" +
                              asking.call({"MemcpyAsync", {wide("%k"), wide("%at"), wide(16), word(3), wide(0ull)}}));
  asking.kernel("reads", "  ld.global.u32 %r, [%out+36];\n  add.u32 %r, %r, 1;\n  st.global.u32 [%out+44], %r;\n");
  asking.kernel("strays", "  ld.global.u32 %r, [%out+40];\n  st.global.u32 [%out], %r;\n");
  const CUmodule mod = with_runtime(asking.text());
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  CUdeviceptr out = 0;
  CU_CHECK(cuMemAlloc(&out, 48));
  const unsigned half[] = {5, 6};
  CU_CHECK(cuMemcpyHtoD(out, half, sizeof half));
  void* a[] = {&out};
  for (const char* each : {"copies", "reads", "strays"}) {
    CUfunction f = nullptr;
    CU_CHECK(cuModuleGetFunction(&f, mod, each));
    ANSWERS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, a, nullptr), CUDA_SUCCESS);
    ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  }
  unsigned copied[2] = {}, read = 0;
  CU_CHECK(cuMemcpyDtoH(copied, out + 32, sizeof copied));
  CU_CHECK(cuMemcpyDtoH(&read, out + 44, sizeof read));
  CHECK(copied[0] == 5);
  CHECK(copied[1] == 6);
  CHECK(read == 7);
}

namespace {
constexpr const char* kBeside = "A kernel reads what another one's child may write meanwhile";
constexpr const char* kNeighbours = "Two kernels write words of one page at the same time";

// Runs kernels with `out`, each in a stream of its own; all are given before one begins.
void side_by_side(CUmodule mod, const std::vector<const char*>& kernels, CUdeviceptr out) {
  static std::atomic<bool> go{false};
  const auto wait = [](void*) {
    while (!go) std::this_thread::yield();
  };
  void* a[] = {&out};
  for (const char* each : kernels) {
    CUfunction f = nullptr;
    CUstream stream = nullptr;
    CU_CHECK(cuModuleGetFunction(&f, mod, each));
    CU_CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CU_CHECK(cuLaunchHostFunc(stream, wait, nullptr));
    ANSWERS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, a, nullptr), CUDA_SUCCESS);
  }
  go = true;
}
}  // namespace

FRESH_CASE(kBeside, "[launch]") {
  conformance::context();
  Asking asking;
  const Asked place{"GetParameterBufferV2", {wide("%k"), dim(1, 1, 1), dim(1, 1, 1), word(0)}, true};
  const auto launch = [&](const char* child) {
    return std::string("  mov.u64 %k, ") + child + ";\n" + asking.call(place) + "  st.u64 [%w], %out;\n" +
           asking.call({"LaunchDeviceV2", {wide("%w"), wide(0ull)}});
  };
  asking.kernel("first", "  mov.u32 %r, 1;\n" + store(0));
  asking.kernel("second", "  mov.u32 %r, 2;\n" + store(1));
  asking.kernel("launches", launch("first") + launch("second"));
  asking.kernel("reads", "  ld.global.u32 %r, [%out];\n" + store(2));
  const CUmodule mod = with_runtime(asking.text());
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  CUdeviceptr out = 0;
  CU_CHECK(cuMemAlloc(&out, 12));
  CU_CHECK(cuMemsetD32(out, 0, 3));
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  side_by_side(mod, {"launches", "reads"}, out);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  unsigned got[3] = {};
  CU_CHECK(cuMemcpyDtoH(got, out, sizeof got));
  CHECK(got[0] == 1);
  CHECK(got[1] == 2);
  CHECK(got[2] <= 1);
}

FRESH_CASE(kNeighbours, "[launch]") {
  conformance::context();
  Asking asking;
  asking.kernel("first", "  mov.u32 %r, 1;\n" + store(0));
  asking.kernel("second", "  mov.u32 %r, 2;\n" + store(1));
  CUmodule mod = nullptr;
  CUdeviceptr out = 0;
  CU_CHECK(cuModuleLoadData(&mod, asking.text().c_str()));
  CU_CHECK(cuMemAlloc(&out, 8));
  side_by_side(mod, {"first", "second"}, out);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  unsigned got[2] = {};
  CU_CHECK(cuMemcpyDtoH(got, out, sizeof got));
  CHECK(got[0] == 1);
  CHECK(got[1] == 2);
}

FRESH_CASE("The checks find what kernels and their children do wrong, and no more", "[launch]") {
  conformance::context();
  if (!conformance::on_simulator()) SKIP_TEST("it is about the simulator");
  for (const char* name : {kManyThreads, kNeighbours, kHalfWritten, kBeside}) {
    const auto ending = conformance::spawn({"conformance", conformance::as_pattern(name)},
                                           {{"CONFORMANCE_CHILD", "1"}, {"CUDASIM_CHECK", "race,init,sync"}});
    CAPTURE(ending.output);
    CHECK(ending.good());
    const std::string finding = "========= simulated GPU";
    const std::size_t first = ending.output.find(finding);
    const bool fine = name == kManyThreads || name == kNeighbours;
    CHECK((first == std::string::npos) == fine);
    if (fine) continue;
    // The only ones: "copies" and its like are fine, and "second", which comes last, writes elsewhere.
    const char* const kernel = name == kHalfWritten ? "kernel   strays" : "kernel   first";
    CHECK(ending.output.find(kernel, first) != std::string::npos);
    CHECK(ending.output.find(finding, first + 1) == std::string::npos);
  }
}

FRESH_CASE("The simulator says once what child of a kernel is refused, and why", "[launch]") {
  conformance::context();
  if (!conformance::on_simulator()) SKIP_TEST("it is about the simulator");
  for (const bool quiet : {false, true}) {
    const auto ending = conformance::spawn({"conformance", conformance::as_pattern(kRefusedChild)},
                                           {{"CONFORMANCE_CHILD", "1"}, {"CUDASIM_QUIET", quiet ? "1" : ""}});
    CAPTURE(ending.output, quiet);
    CHECK(ending.good());
    const std::string told =
        "cudasim: kernel asks17 launched bounded in a way that the device does not have "
        "(cudaErrorInvalidConfiguration; nothing runs): the block has 65 threads, and a block of "
        "bounded has at most 64\n";
    const std::size_t first = ending.output.find(told);
    CHECK((first == std::string::npos) == quiet);
    if (!quiet) CHECK(ending.output.find(told, first + 1) == std::string::npos);
    CHECK(ending.output.find("kernel asks0 ") == std::string::npos);
  }
}

FRESH_CASE("The device runtime judges copies, fills, streams and events, and remembers what is wrong", "[launch]") {
  conformance::context();
  const Passed to = wide("%at"), from = wide("%k"), null = wide(0ull), stream = wide(0ull);
  struct Judged {
    Asked asked;
    unsigned answer;
  };
  const Judged judged[] = {
      {{"MemcpyAsync", {to, from, wide(4), word(1), stream}}, 21},  // cudaErrorInvalidMemcpyDirection
      {{"MemcpyAsync", {to, from, wide(4), word(9), stream}}, 21},
      {{"MemcpyAsync", {to, from, wide(4), word(3), stream}}, 0},
      {{"MemcpyAsync", {to, from, wide(4), word(4), stream}}, 0},  // cudaMemcpyDefault
      {{"MemcpyAsync", {to, from, wide(0ull), word(3), stream}}, 0},
      {{"MemcpyAsync", {null, from, wide(0ull), word(3), stream}}, 0},
      {{"Memcpy2DAsync", {to, wide(2), from, wide(8), wide(4), wide(3), word(3), stream}}, 12},  // …InvalidPitchValue
      {{"Memset2DAsync", {to, wide(2), word(0), wide(4), wide(3), stream}}, 1},
      {{"MemsetAsync", {null, word(0), wide(0ull), stream}}, 0},
      {{"StreamCreateWithFlags", {to, word(0)}}, 0},
      {{"StreamCreateWithFlags", {to, word(1)}}, 0},  // cudaStreamNonBlocking
      {{"StreamCreateWithFlags", {to, word(77)}}, 1},
      {{"EventCreateWithFlags", {to, word(0)}}, 1},  // it may not take the time
      {{"EventCreateWithFlags", {to, word(2)}}, 0},  // cudaEventDisableTiming
      {{"EventCreateWithFlags", {to, word(3)}}, 0},
      {{"EventCreateWithFlags", {to, word(6)}}, 1},   // nor be another process's
      {{"EventCreateWithFlags", {to, word(66)}}, 0},  // what means nothing is not looked at
      // No bytes come before what is wrong, and the direction before the pitch.
      {{"MemcpyAsync", {to, from, wide(0ull), word(1), stream}}, 0},
      {{"Memcpy2DAsync", {to, wide(2), from, wide(8), wide(4), wide(0ull), word(1), stream}}, 0},
      {{"Memcpy2DAsync", {to, wide(2), from, wide(8), wide(4), wide(0ull), word(3), stream}}, 0},
      {{"Memcpy2DAsync", {to, wide(2), from, wide(8), wide(4), wide(3), word(1), stream}}, 21},
  };
  Asking asking;
  std::string body;
  unsigned index = 0;
  for (const Judged& each : judged) {
    body += at(512) + "  add.u64 %k, %out, 768;\n" + asking.call(each.asked) + store(index++);
    body += asking.call({"PeekAtLastError", {}}) + store(index++);
    body += asking.call({"GetLastError", {}}) + store(index++);
  }
  asking.kernel("asks", body);
  const CUmodule mod = with_runtime(asking.text());
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  unsigned got[256] = {};
  run_asking(mod, "asks", 1, got);
  for (unsigned i = 0; i < index; ++i) {
    const Judged& each = judged[i / 3];
    CAPTURE(each.asked.name, i / 3, i % 3);
    CHECK(got[i] == each.answer);
  }
}

FRESH_CASE("The device runtime answers questions as the driver does", "[launch]") {
  conformance::context();
  Asking asking;
  std::string body = "  mov.u64 %k, plain;\n";
  unsigned index = 0;
  std::vector<unsigned> expected;
  // The call's answer, and what it has written.
  const auto asks = [&](const char* name, std::vector<Passed> rest, unsigned answer, std::optional<unsigned> value) {
    const unsigned written = 8 * index + 4;
    rest.insert(rest.begin(), wide("%at"));
    body += at(512) + asking.call({name, rest}) + "  st.global.u32 [%out+" + std::to_string(written - 4) + "], %r;\n";
    body += "  ld.global.u32 %r, [%at];\n  st.global.u32 [%out+" + std::to_string(written) + "], %r;\n";
    expected.insert(expected.end(), {answer, value.value_or(0)});
    if (!value) body += "  mov.u32 %r, 0;\n  st.global.u32 [%out+" + std::to_string(written) + "], %r;\n";
    ++index;
  };
  const auto attribute = [](CUdevice_attribute which) {
    int value = 0;
    CU_CHECK(cuDeviceGetAttribute(&value, which, 0));
    return static_cast<unsigned>(value);
  };
  const auto limit = [](CUlimit which) {
    std::size_t value = 0;
    CU_CHECK(cuCtxGetLimit(&value, which));
    return static_cast<unsigned>(value);
  };
  asks("GetDevice", {}, 0, 0);
  asks("RuntimeGetVersion", {}, 0, 6000);  // of CUDA 13.0
  for (const CUdevice_attribute each : {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, CU_DEVICE_ATTRIBUTE_WARP_SIZE})
    asks("DeviceGetAttribute", {word(each), word(0)}, 0, attribute(each));
  // Not every question's error is remembered.
  const auto last_error = [&](unsigned error) {
    body += asking.call({"GetLastError", {}}) + store(2 * index) + "  mov.u32 %r, 0;\n" + store(2 * index + 1);
    expected.insert(expected.end(), {error, 0});
    ++index;
  };
  asks("DeviceGetAttribute", {word(9999), word(0)}, 1, std::nullopt);
  last_error(1);
  asks("DeviceGetLimit", {word(77)}, 1, std::nullopt);
  asks("DeviceGetLimit", {word(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH)}, 215, std::nullopt);  // cudaErrorUnsupportedLimit
  asks("OccupancyMaxActiveBlocksPerMultiprocessor", {wide("%k"), word(0), wide(0ull)}, 1, 0);
  asks("OccupancyMaxActiveBlocksPerMultiprocessor", {wide("%k"), word(2000), wide(0ull)}, 0, 0);
  last_error(0);
  for (const CUlimit each : {CU_LIMIT_STACK_SIZE, CU_LIMIT_MALLOC_HEAP_SIZE, CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT})
    asks("DeviceGetLimit", {word(each)}, 0, limit(each));
  const unsigned blocks = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / 256;
  asks("OccupancyMaxActiveBlocksPerMultiprocessor", {wide("%k"), word(256), wide(0ull)}, 0, blocks);
  asks("OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", {wide("%k"), word(256), wide(0ull), word(0)}, 0, blocks);
  body += "  mov.u64 %k, wide;\n";
  asks("FuncGetAttributes", {wide("%k")}, 0, 32768);                                    // bytes of shared memory
  body += "  ld.global.u64 %w, [%at+16];\n  cvt.u32.u64 %r, %w;\n" + store(2 * index);  // of local memory
  body += "  ld.global.u32 %r, [%at+24];\n" + store(2 * index + 1);                     // threads of a block
  ++index;
  expected.insert(expected.end(), {0, 1024});
  struct Letter {
    const char* of;
    unsigned error, at;
    char letter;
  };
  for (const auto& [of, error, place, letter] : {
           Letter{"GetErrorName", 2, 0, 'c'},      // cudaErrorMemoryAllocation
           Letter{"GetErrorName", 2, 9, 'M'},      //
           Letter{"GetErrorName", 21, 15, 'd'},    // cudaErrorInvalidMemcpyDirection
           Letter{"GetErrorString", 21, 8, 'c'},   // invalid copy direction for memcpy
           Letter{"GetErrorName", 12345, 0, 'u'},  // unrecognized error code
           Letter{"GetErrorString", 12345, 0, 'u'},
           Letter{"GetErrorString", 12345, 13, 'e'},
       }) {
    body += asking.call({of, {word(error)}, true}) + "  ld.u8 %r, [%w+" + std::to_string(place) + "];\n";
    body += store(2 * index) + "  mov.u32 %r, 0;\n" + store(2 * index + 1);
    expected.insert(expected.end(), {static_cast<unsigned>(letter), 0});
    ++index;
  }
  asking.kernel("plain", "  st.global.u32 [%out], %t;\n");
  asking.kernel("wide",
                "  .shared .b32 own[8192];\n  st.shared.u32 [own], %t;\n  ld.shared.u32 %r, [own+4];\n" + store(0));
  asking.kernel("asks", body);
  const CUmodule mod = with_runtime(asking.text());
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  unsigned got[256] = {};
  run_asking(mod, "asks", 1, got);
  for (unsigned i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i] == expected[i]);
  }
}

FRESH_CASE("Kernels fill and copy boxes by the device runtime", "[launch]") {
  conformance::context();
  Asking asking;
  // A box of 3 bytes by 2 rows by 2 slices; memory has rows of 8 bytes, and 4 of these to a slice.
  std::string body = at(64) + "  add.u64 %k, %out, 128;\n";
  body +=
      asking.call({"Memset3DAsync", {words({"%at", "8", "8", "4"}), word(0x25), words({"3", "2", "2"}), wide(0ull)}});
  body += store(0);
  // cudaMemcpy3DParms, from byte 1 of row 1 of the filled memory to slice 1 of the other.
  body += "  add.u64 %w, %out, 256;\n";
  const char* const parameters[] = {"0", "1", "1",  "0", "%at", "8", "8", "4", "0", "0",
                                    "0", "1", "%k", "8", "8",   "4", "3", "2", "1", "3"};
  for (unsigned i = 0; i < 20; ++i) body += "  st.u64 [%w+" + std::to_string(8 * i) + "], " + parameters[i] + ";\n";
  body += asking.call({"Memcpy3DAsync", {wide("%w"), wide(0ull)}}) + store(1);
  asking.kernel("asks", body);
  const CUmodule mod = with_runtime(asking.text());
  if (mod == nullptr) SKIP_TEST("needs the toolkit's libcudadevrt.a");
  unsigned got[128];
  auto* const bytes = reinterpret_cast<unsigned char*>(got);
  std::memset(got, 0x77, sizeof got);
  run_asking(mod, "asks", 1, got);
  CHECK(got[0] == 0);
  CHECK(got[1] == 0);
  const auto fill = static_cast<unsigned char>(filled(0x25, bytes[64]));
  for (unsigned i = 0; i < 64; ++i) {
    CAPTURE(i);
    const unsigned x = i % 8, y = i / 8 % 4, slice = i / 32;
    CHECK(bytes[64 + i] == (x < 3 && y < 2 ? fill : 0x77));
    // Of what is copied, two bytes of the first row had been filled.
    CHECK(bytes[128 + i] == (slice == 1 && x < 2 && y == 0 ? fill : 0x77));
  }
}

#if CUDA_VERSION >= 12000
FRESH_CASE("Clusters that fit are as many as groups of multiprocessors have room for", "[launch]") {
  const auto F = conformance::module();
  int major = 0, count = 0;
  CU_CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, F.dev));
  CU_CHECK(cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, F.dev));
  if (major != 9 || count != 132) SKIP_TEST("the numbers are an H200's");
  const CUfunction f = F("empty_k");
  CU_CHECK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200 << 10));
  const auto fit = [&](unsigned size, unsigned shared, unsigned threads) {
    CUlaunchAttribute a{};
    a.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    a.value.clusterDim = {size, 1, 1};
    const CUlaunchConfig config{size * 132, 1, 1, threads, 1, 1, shared, nullptr, &a, 1};
    int clusters = -1;
    ANSWERS(cuOccupancyMaxActiveClusters(&clusters, f, &config), CUDA_SUCCESS);
    return clusters;
  };
  int clusters = -1;
  CUlaunchAttribute ten{};
  ten.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  ten.value.clusterDim = {10, 1, 1};
  const CUlaunchConfig large{1320, 1, 1, 128, 1, 1, 0, nullptr, &ten, 1};
  ANSWERS(cuOccupancyMaxActiveClusters(&clusters, f, &large), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  CU_CHECK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  CHECK(fit(32, 0, 128) == 0);
  const unsigned sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16};
  const struct {
    unsigned shared, threads;
    int fit[11];
  } rows[] = {{0, 128, {1056, 528, 327, 248, 193, 163, 139, 124, 88, 74, 58}},
              {0, 1024, {264, 132, 79, 62, 47, 39, 32, 30, 21, 16, 14}},
              {60 << 10, 128, {396, 198, 124, 92, 69, 62, 47, 45, 30, 28, 21}},
              {100 << 10, 128, {264, 132, 79, 62, 47, 39, 32, 30, 21, 16, 14}},
              {200 << 10, 1024, {132, 66, 39, 30, 22, 17, 15, 15, 7, 7, 7}}};
  for (const auto& row : rows) {
    for (int i = 0; i < 11; ++i) {
      CAPTURE(row.shared, row.threads, sizes[i]);
      const int told = fit(sizes[i], row.shared, row.threads);
      // Which multiprocessors of a chip are left out, and so the groups' sizes, another H200 may have otherwise.
      const int all = row.fit[0] / static_cast<int>(sizes[i]);
      if (sizes[i] <= 2 || conformance::on_simulator()) CHECK(told == row.fit[i]);
      CHECK(told <= all);
      NOTES(sizes[i] << " of " << row.shared << " bytes, " << row.threads << " threads: " << told);
    }
  }
}
#endif

#if CUDA_VERSION >= 12080
FRESH_CASE("A preferred cluster is a multiple of the cluster, and the grid one of both", "[launch]") {
  const auto F = conformance::module();
  int major = 0;
  CU_CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, F.dev));
  if (major < 9) SKIP_TEST("clusters need compute capability 9.0");
  CUlaunchAttribute a[2]{};
  a[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  a[0].value.clusterDim = {2, 1, 1};
  a[1].id = CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION;
  a[1].value.preferredClusterDim = {4, 1, 1};
  CUlaunchConfig config{2, 1, 1, 1, 1, 1, 0, nullptr, a, 2};
  ANSWERS(cuLaunchKernelEx(&config, F("empty_k"), nullptr, nullptr), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  config.gridDimX = 8;
  a[1].value.preferredClusterDim = {3, 1, 1};
  ANSWERS(cuLaunchKernelEx(&config, F("empty_k"), nullptr, nullptr), CUDA_ERROR_INVALID_CLUSTER_SIZE);
}
#endif

FRESH_CASE("Room for shared memory is a question about blocks that there can be", "[launch]") {
  const auto F = conformance::module();
  std::size_t room = 0;
  ANSWERS(cuOccupancyAvailableDynamicSMemPerBlock(&room, F("empty_k"), 33, 32), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuOccupancyAvailableDynamicSMemPerBlock(&room, F("empty_k"), 1, 2048), CUDA_ERROR_INVALID_VALUE);
}
