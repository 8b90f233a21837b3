// CUDASIM_TRACE=api: what a teacher projects. A GPU's driver has no such thing.
#include "tests/conformance/scenario.hpp"

#include <regex>
#include <thread>

namespace {

constexpr const char* kTraced = "CUDASIM_TRACE=api shows each call, its arguments by name, its answer, and the stack";

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
  shows(R"(1: cuInit\(Flags=0\) -> CUDA_SUCCESS  \[\]\n)");
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

constexpr const char* kReasons = "Why a call has failed is told to who looks on, and written to CUDA_LOG_FILE";

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
    std::istringstream words(ending.output);
    std::string told;
    for (std::string word; words >> word;) told += word + ' ';  // lines may break anywhere
    CAPTURE(told);
    for (const char* reason :
         {"there is no device 7: there are 1, counted from 0", "the module has no kernel of that name; there are ",
          "the block has 2048 threads, and a block of inc has at most 1024",
          "the grid is 1 x 0 x 1, each of which must",
          "60000 bytes of dynamic shared memory are wanted, and inc may have 49152",
          "oob_write takes 2 arguments, and kernelParams is null",
          "which is the last 2 bytes of it past the end of the allocation of 256 bytes",
          "only what an allocation begins with can be freed, and this is 8 bytes into the allocation of 256 bytes",
          "this is 0 bytes into the freed allocation of 256 bytes", "is a handle of something that has been destroyed",
          "an event was made with CU_EVENT_DISABLE_TIMING", "the kernel was loaded into another context",
          "no context is current to this thread"}) {
      CHECK(told.find(reason) != std::string::npos);
    }
  }
}
