// CUDASIM_TRACE=api: what a teacher projects; and what else stderr shows of calls. A GPU's driver has no such thing.
#include "tests/conformance/scenario.hpp"

#include <regex>
#include <thread>

namespace {

constexpr const char* kTraced = "CUDASIM_TRACE=api shows each call, its arguments by name, its result, and the stack";

void traced_calls() {
  CUcontext a = nullptr, b = nullptr;
  CUstream stream = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr memory = 0;
  char name[64];
  int value = 0;
  cuInit(0);
  cuDeviceGetName(name, sizeof name, 0);
  if (std::strncmp(name, "Simulated", 9) != 0) return;  // among what follows is what crashes a GPU's driver
  cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0);
  cuCtxCreate(&a, nullptr, 0, 0);
  cuCtxCreate(&b, nullptr, CU_CTX_SCHED_BLOCKING_SYNC | CU_CTX_MAP_HOST, 0);
  cuCtxPopCurrent(&b);
  cuMemFree(0x1234);
  cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  cuStreamDestroy(stream);
  cuStreamQuery(stream);
  cuEventDestroy(reinterpret_cast<CUevent>(stream));
  cuModuleLoadData(&module, conformance::image().c_str());
  cuModuleGetFunction(&function, module, "null_write");
  cuModuleGetFunction(&function, module, "oob_write");
  cuMemAlloc(&memory, 1 << 20);
  unsigned long long offset = 4;
  void* parameters[] = {&memory, &offset};
  cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_LEGACY, parameters, nullptr);
  std::thread([] {
    CUcontext none = nullptr;
    cuCtxGetCurrent(&none);
  }).join();
  std::fprintf(stderr, "on the simulator\n");
}

}  // namespace

TEST_CASE(kTraced, "[trace]") {
  if (conformance::in_child()) return traced_calls();
  const auto ending = conformance::spawn({"conformance", conformance::as_pattern(kTraced)},
                                         {{"CONFORMANCE_CHILD", "1"}, {"CUDASIM_TRACE", "api"}});
  CAPTURE(ending.output);
  CHECK(ending.good());
  if (ending.output.find("on the simulator") == std::string::npos) SKIP_TEST("it is about the simulator");
  const auto shows = [&](const char* line) {
    CAPTURE(line);
    CHECK(std::regex_search(ending.output, std::regex(line)));
  };
  shows(R"(cudasim \d+\.\d+\.\d+\S*\n1: cuInit\(Flags=0\) -> CUDA_SUCCESS  \[\]\n)");
  shows(R"(1: cuDeviceGetName\(\*name="Simulated H200", len=64, dev=0\) -> CUDA_SUCCESS  \[\]\n)");
  shows(R"(cuDeviceGetAttribute\(\*pi=32, attrib=CU_DEVICE_ATTRIBUTE_WARP_SIZE, dev=0\))");
  shows(R"(1: cuCtxCreate_v\d\(\*pctx=ctx1 \(0x\w+\),[^)]*flags=CU_CTX_SCHED_AUTO,\s+dev=0\))");
  shows(R"(flags=CU_CTX_SCHED_BLOCKING_SYNC\|CU_CTX_MAP_HOST,\s+dev=0\)\s+-> CUDA_SUCCESS  \[ctx1 ctx2\]\n)");
  shows(R"(1: cuCtxPopCurrent_v2\(\*pctx=ctx2\) -> CUDA_SUCCESS  \[ctx1\]\n)");
  shows(R"(1: cuMemFree_v2\(dptr=0x1234\) -> CUDA_ERROR_INVALID_VALUE  \[ctx1\]\n)");
  shows(R"(\(\*phStream=stream1 \(0x\w+\), Flags=CU_STREAM_NON_BLOCKING\))");
  shows(R"(cuStreamQuery\(hStream=stream1\) -> CUDA_ERROR_INVALID_HANDLE)");
  shows(R"(cuEventDestroy_v2\(hEvent=stream1\) -> CUDA_ERROR_INVALID_HANDLE)");
  shows(R"(\(\*hfunc=oob_write \(0x\w+\), hmod=module1, name="oob_write"\))");
  shows(R"(1: cuLaunchKernel\(f=oob_write, gridDimX=1,)");
  shows(R"(hStream=CU_STREAM_LEGACY,\s+kernelParams=\{0x\w+, 4\},\s+extra=null\))");
  shows(R"(\n    2: cuCtxGetCurrent\(\*pctx=null\) -> CUDA_SUCCESS  \[\]\n)");
  std::istringstream lines(ending.output);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 100);
  }
}

namespace {

// The words of its output only: lines may break anywhere.
std::string words_of(const conformance::Ending& ending) {
  std::istringstream words(ending.output);
  std::string told;
  for (std::string word; words >> word;) told += word + ' ';
  return told;
}

constexpr const char* kReasons = "The reason for a failed call is traced and written to CUDA_LOG_FILE";

void mistakes() {
  const auto F = conformance::module();
  if (!conformance::on_simulator()) return;
  CUcontext other = nullptr;
  CUfunction function = nullptr;
  CUstream stream = nullptr;
  CUevent untimed = nullptr;
  CUdevice device = 0;
  CUdeviceptr memory = 0;
  int value = 0;
  float milliseconds = 0;
  CU_CHECK(cuMemAlloc(&memory, 256));
  CU_CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
  cuDeviceGet(&device, 7);
  cuModuleGetFunction(&function, F.mod, "incc");
  function = F("inc");
  cuLaunchKernel(function, 1, 1, 1, 32, 64, 1, 0, nullptr, nullptr, nullptr);
  cuLaunchKernel(function, 1, 0, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr);
  cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 60000, nullptr, nullptr, nullptr);
  cuLaunchKernel(F("oob_write"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
  cuMemcpyHtoD(memory + 254, &value, 4);
  cuMemFree(memory + 8);
  cuMemFree(memory);
  cuMemFree(memory);
  cuStreamDestroy(stream);
  cuStreamQuery(stream);
  cuEventElapsedTime(&milliseconds, untimed, untimed);
  cuCtxCreate(&other, nullptr, 0, F.dev);
  cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr);
  cuCtxSetCurrent(nullptr);
  cuCtxSetCurrent(nullptr);
  cuMemAlloc(&memory, 4);
  std::fprintf(stderr, "on the simulator\n");
}

}  // namespace

TEST_CASE(kReasons, "[trace]") {
  if (conformance::in_child()) return mistakes();
  for (const char* way : {"CUDASIM_TRACE", "CUDA_LOG_FILE"}) {
    const bool trace = std::strcmp(way, "CUDASIM_TRACE") == 0;
    const auto ending = conformance::spawn({"conformance", conformance::as_pattern(kReasons)},
                                           {{"CONFORMANCE_CHILD", "1"}, {way, trace ? "api" : "stderr"}});
    if (ending.output.find("on the simulator") == std::string::npos) SKIP_TEST("it is about the simulator");
    const std::string told = words_of(ending);
    CAPTURE(told);
    for (const char* reason :
         {"there is no device 7: there are 1, counted from 0", "the module has no kernel with this name; it has ",
          "the block has 2048 threads, and a block of inc has at most 1024",
          "the grid is 1 x 0 x 1, each of which must",
          "60000 bytes of dynamic shared memory were requested, but inc may use only 49152",
          "oob_write takes 2 arguments, and kernelParams is null",
          "which is partly outside, with 2 bytes past the end of the allocation of 256 bytes",
          "only the start of an allocation can be freed, and this address is 8 bytes into the allocation of 256 bytes",
          "this address is 0 bytes into the freed allocation of 256 bytes",
          "is the handle of an object that was destroyed", "an event was made with CU_EVENT_DISABLE_TIMING",
          "the kernel was loaded into a context other than the stream's", "no context is current to this thread"}) {
      CHECK(told.find(reason) != std::string::npos);
    }
  }
}

namespace {

int times(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

constexpr const char* kRefused = "The reason for refused PTX is traced, written to CUDA_LOG_FILE, or a line on stderr";

// A driver of before CUDA 12.7 gets no further than the version.
constexpr bool kKnowsVersion = CUDA_VERSION >= 12070;
const std::string kNewer = ".version 8.6\n.target sm_100\n.address_size 64\n";
const std::string kUnknown =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".visible .entry k() {\n"
    "  .reg .f32 %f<2>;\n"
    "  mov.f32 %f0, 0f00000000; mulx.f32 %f1, %f0, %f0;\n"
    "  mulx.f32 %f1, %f0, %f0;\n"
    "  ret;\n}\n";
const std::string kUndefined =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".extern .func elsewhere;\n"
    ".visible .entry k() {\n  call elsewhere;\n  ret;\n}\n";

void refused_texts() {
  conformance::context();
  if (!conformance::on_simulator()) return;
  CUmodule module = nullptr;
  CUlibrary library = nullptr;
  CUlinkState link = nullptr;
  void* image = nullptr;
  std::size_t size = 0;
  const auto add = [&](const std::string& text, const char* name) {
    return cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(text.c_str()), text.size() + 1, name, 0, nullptr,
                         nullptr);
  };
  CHECK(cuModuleLoadData(&module, kNewer.c_str()) ==
        (kKnowsVersion ? CUDA_ERROR_INVALID_PTX : CUDA_ERROR_UNSUPPORTED_PTX_VERSION));
  CHECK(cuModuleLoadData(&module, kUnknown.c_str()) == CUDA_ERROR_INVALID_PTX);
  char path[] = "/tmp/refused-XXXXXX";
  const int file = mkstemp(path);
  REQUIRE(write(file, kUnknown.data(), kUnknown.size()) == static_cast<ssize_t>(kUnknown.size()));
  CHECK(cuModuleLoad(&module, path) == CUDA_ERROR_INVALID_PTX);
  close(file);
  unlink(path);
  CU_CHECK(cuLibraryLoadData(&library, kUnknown.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel kernel = nullptr;
  CHECK(cuLibraryGetKernel(&kernel, library, "k") == CUDA_ERROR_INVALID_PTX);
  CU_CHECK(cuLinkCreate(0, nullptr, nullptr, &link));
  CHECK(add(kUnknown, "unknown.ptx") == CUDA_ERROR_INVALID_PTX);
  CHECK(cuLinkComplete(link, &image, &size) == CUDA_SUCCESS);  // of nothing
  CU_CHECK(cuLinkDestroy(link));
  CU_CHECK(cuLinkCreate(0, nullptr, nullptr, &link));
  CHECK(cuLinkAddData(link, CU_JIT_INPUT_CUBIN, const_cast<char*>(kUndefined.c_str()), kUndefined.size() + 1,
                      "no.cubin", 0, nullptr, nullptr) == CUDA_ERROR_INVALID_IMAGE);
  CHECK(cuLinkComplete(link, &image, &size) == CUDA_ERROR_INVALID_IMAGE);
  CU_CHECK(cuLinkDestroy(link));
  CU_CHECK(cuLinkCreate(0, nullptr, nullptr, &link));
  CU_CHECK(add(kUndefined, "undefined.ptx"));
  CHECK(cuLinkComplete(link, &image, &size) == CUDA_ERROR_INVALID_SOURCE);
  // A program that passes a buffer finds it there.
  char log[4096];
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CHECK(cuModuleLoadDataEx(&module, kUnknown.c_str(), 2, options, values) == CUDA_ERROR_INVALID_PTX);
  CHECK(std::strstr(log, "line 6; error   : Not a name of any known instruction: 'mulx'") != nullptr);
  std::fprintf(stderr, "on the simulator\n");
}

}  // namespace

TEST_CASE(kRefused, "[trace]") {
  if (conformance::in_child()) return refused_texts();
  const std::string newer = kKnowsVersion ? "PTX line 2 is refused: SM version specified by .target is higher"
                                          : "PTX line 1 is refused: Unsupported .version 8.6; current version is '";
  const std::string unknown = "PTX line 6 is refused: Not a name of any known instruction: 'mulx'";
  const std::string undefined = "the link is refused: Undefined reference to 'elsewhere' in 'undefined.ptx'";
  const auto ends = [](const char* trace, const char* log, const char* quiet) {
    return conformance::spawn(
        {"conformance", conformance::as_pattern(kRefused)},
        {{"CONFORMANCE_CHILD", "1"}, {"CUDASIM_TRACE", trace}, {"CUDA_LOG_FILE", log}, {"CUDASIM_QUIET", quiet}});
  };
  for (const bool trace : {true, false}) {
    const auto ending = trace ? ends("api", "", "1") : ends("", "stderr", "1");
    CAPTURE(ending.output);
    CHECK(ending.good());
    if (ending.output.find("on the simulator") == std::string::npos) SKIP_TEST("it is about the simulator");
    const std::string told = words_of(ending), because = trace ? "because " : "[E] ";
    CHECK(times(told, because + newer) == 1);
    CHECK(times(told, because + unknown + " (and 1 more in the error log)") == 5);
    CHECK(times(told, because + undefined) == 1);
    CHECK(times(told, because + "an earlier input was rejected") == 1);
    CHECK(times(told, "cudasim: ") == 0);
    // The line and the caret below it stand as they do in the log.
    const std::string margin = trace ? "           " : "    ";
    CHECK(times(ending.output, "\n" + margin + "  mov.f32 %f0, 0f00000000; mulx.f32 %f1, %f0, %f0;\n" + margin +
                                   std::string(27, ' ') + "^\n") == 5);
  }
  const auto plain = ends("", "", "");
  CAPTURE(plain.output);
  CHECK(plain.good());
  CHECK(times(plain.output, "cudasim: " + newer) == 1);
  CHECK(times(plain.output, "cudasim: " + unknown) == 4);
  CHECK(times(plain.output, "cudasim: " + undefined) == 1);
  CHECK(times(plain.output, "cudasim: ") == 6);
  const auto silent = ends("", "", "1");
  CAPTURE(silent.output);
  CHECK(silent.good());
  CHECK(times(silent.output, "cudasim: ") == 0);
}

namespace {

constexpr const char* kFaulted = "After a fault, calls say that it is the process's, not their context's";

void calls_after_a_fault() {
  const auto F = conformance::module();
  if (!conformance::on_simulator()) return;
  CUdeviceptr memory = 0;
  CUcontext other = nullptr;
  void* parameters[] = {&memory};
  CU_CHECK(cuLaunchKernel(F("null_write"), 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  CHECK(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(cuMemAlloc(&memory, 16) == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(cuCtxCreate(&other, nullptr, 0, F.dev) == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(cuCtxDestroy(F.ctx) == CUDA_SUCCESS);
  CHECK(cuCtxCreate(&other, nullptr, 0, F.dev) == CUDA_ERROR_ILLEGAL_ADDRESS);
  std::fprintf(stderr, "on the simulator\n");
}

}  // namespace

TEST_CASE(kFaulted, "[trace]") {
  if (conformance::in_child()) return calls_after_a_fault();
  const auto ending = conformance::spawn({"conformance", conformance::as_pattern(kFaulted)},
                                         {{"CONFORMANCE_CHILD", "1"}, {"CUDASIM_TRACE", "api"}});
  CAPTURE(ending.output);
  CHECK(ending.good());
  if (ending.output.find("on the simulator") == std::string::npos) SKIP_TEST("it is about the simulator");
  CHECK(times(words_of(ending),
              "because earlier work on the device has failed: until the process ends, every call that "
              "needs the device fails like this, even cuCtxCreate; cuCtxDestroy still succeeds") == 4);
}

namespace {

constexpr const char* kMisspelt = "A variable of the simulator's that is misspelt is named once";

void initialised_twice() {
  CU_CHECK(cuInit(0));
  CU_CHECK(cuInit(0));
  if (conformance::on_simulator()) std::fprintf(stderr, "on the simulator\n");
}

}  // namespace

TEST_CASE(kMisspelt, "[trace]") {
  if (conformance::in_child()) return initialised_twice();
  for (const char* quiet : {"", "1"}) {
    const auto ending =
        conformance::spawn({"conformance", conformance::as_pattern(kMisspelt)}, {{"CONFORMANCE_CHILD", "1"},
                                                                                 {"CUDASIM_PROFIL", "1"},
                                                                                 {"CUDASIM_TRACEE", "api"},
                                                                                 {"CUDASIM_trace_only", "warp=all"},
                                                                                 {"CUDASIM_COLOUR", "1"},
                                                                                 {"CUDASIM_TRACE_ONLY", "warp=all"},
                                                                                 {"CUDASIM_QUIET", quiet}});
    CAPTURE(ending.output);
    CHECK(ending.good());
    if (ending.output.find("on the simulator") == std::string::npos) SKIP_TEST("it is about the simulator");
    for (const char* line :
         {"cudasim: CUDASIM_PROFIL is not a simulator variable; did you mean CUDASIM_PROFILE?\n",
          "cudasim: CUDASIM_TRACEE is not a simulator variable; did you mean CUDASIM_TRACE?\n",
          "cudasim: CUDASIM_trace_only is not a simulator variable; did you mean CUDASIM_TRACE_ONLY?\n",
          "cudasim: CUDASIM_COLOUR is not a simulator variable; the variables are CUDASIM_DEVICES, CUDASIM_MEMORY, "}) {
      CAPTURE(line);
      CHECK(times(ending.output, line) == 1);
    }
    CHECK(times(ending.output, "is not a simulator variable") == 4);
  }
}
