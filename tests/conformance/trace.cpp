// CUDASIM_TRACE=api: what a teacher projects. A GPU's driver has no such thing.
#include "tests/conformance/scenario.hpp"

#include <regex>
#include <thread>

namespace {

constexpr const char* kTraced = "CUDASIM_TRACE=api shows each call, its arguments by name, its answer, and the stack";

void traced_calls() {
  CUcontext a = nullptr, b = nullptr;
  cuInit(0);
  cuCtxCreate(&a, nullptr, 0, 0);
  cuCtxCreate(&b, nullptr, CU_CTX_SCHED_BLOCKING_SYNC, 0);
  cuCtxPopCurrent(&b);
  cuMemFree(0x1234);
  std::thread([] {
    CUcontext none = nullptr;
    cuCtxGetCurrent(&none);
  }).join();
  std::fprintf(stderr, conformance::on_simulator() ? "on the simulator\n" : "on a GPU\n");
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
  shows(R"(1: cuInit\(flags=0\) -> CUDA_SUCCESS  \[\])");
  shows(R"(1: cuCtxCreate_v\d\(pctx=0x\w+, .*flags=4, dev=0\) -> CUDA_SUCCESS  \[0x\w+ 0x\w+\])");
  shows(R"(1: cuCtxPopCurrent_v2\(pctx=0x\w+\) -> CUDA_SUCCESS  \[0x\w+\])");
  shows(R"(1: cuMemFree_v2\(\w+=0x1234\) -> CUDA_ERROR_INVALID_VALUE  \[0x\w+\])");
  shows(R"(    2: cuCtxGetCurrent\(pctx=null\) -> CUDA_SUCCESS  \[\])");
}
