// Launching: the arguments that are judged, parameters in both forms, cooperative limits, occupancy, wrong contexts.
#include "tests/conformance/scenario.hpp"

#include <string>
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
  ANSWERS(cuParamSeti(f, 100, 1), CUDA_SUCCESS);  // past its parameters: not checked
  ANSWERS(cuParamSetSize(f, sizeof out + 4), CUDA_SUCCESS);
  ANSWERS(cuLaunchGrid(f, 1, 1), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
}
#pragma GCC diagnostic pop

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
