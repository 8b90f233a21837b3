// Checks the learner's first_guilty() (exercise of 04-kernels/10-errors-come-late).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/child.hpp"

#include <cstring>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

int first_guilty(const std::vector<std::function<CUresult()>>& launches);

namespace {

struct Outcome {
  int guilty;    // what first_guilty() returned
  int launches;  // how many were tried
};

// Runs first_guilty() in a process of its own, because a fault affects a process for the rest of its life. One letter
// per launch: i(nnocent), g(uilty), r(efused).
Outcome judge(const std::string& scene) {
  const Child child = in_a_child([&] {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction innocent, guilty;
    CUdeviceptr number;
    CU_CHECK(cuInit(0));
    CU_CHECK(cuDeviceGet(&device, 0));
    CU_CHECK(cuCtxCreate(&context, nullptr, 0, device));
    CU_CHECK(cuModuleLoad(&module, cu::image("check.ptx").c_str()));
    CU_CHECK(cuModuleGetFunction(&innocent, module, "innocent"));
    CU_CHECK(cuModuleGetFunction(&guilty, module, "guilty"));
    CU_CHECK(cuMemAlloc(&number, sizeof(int)));
    int tried = 0;
    std::vector<std::function<CUresult()>> launches;
    for (const char kind : scene) {
      launches.push_back([=, &tried] {
        ++tried;
        CUdeviceptr to = kind == 'g' ? 0 : number;
        void* arguments[] = {&to};
        const unsigned threads = kind == 'r' ? 1025 : 1;
        return cuLaunchKernel(kind == 'g' ? guilty : innocent, 1, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr);
      });
    }
    const int found = first_guilty(launches);
    return std::to_string(found) + " " + std::to_string(tried);
  });
  if (!child.threw.empty()) FAIL("first_guilty threw: " << child.threw);
  if (WIFSIGNALED(child.status))
    FAIL("the process of first_guilty was terminated: " << strsignal(WTERMSIG(child.status)));
  Outcome outcome{};
  if (!(std::istringstream(child.returned) >> outcome.guilty >> outcome.launches)) FAIL("first_guilty exited");
  return outcome;
}

}  // namespace

TEST_CASE("if every kernel succeeds, the result is -1, and all were launched") {
  const Outcome outcome = judge("iii");
  CHECK(outcome.guilty == -1);
  CHECK(outcome.launches == 3);
}

TEST_CASE("the result is the launch that failed, not a later one") {
  const Outcome outcome = judge("igii");
  CHECK(outcome.guilty == 1);
}

TEST_CASE("the last launch can be the one that failed") {
  const Outcome outcome = judge("iig");
  CHECK(outcome.guilty == 2);
}

TEST_CASE("a rejected launch is found") {
  const Outcome outcome = judge("iri");
  CHECK(outcome.guilty == 1);
}

TEST_CASE("nothing is launched after the failure") {
  const Outcome outcome = judge("igii");
  CHECK(outcome.launches == 2);
}
