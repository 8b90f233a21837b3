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
  if (ending.output.find("on the simulator") == std::string::npos) return;
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
