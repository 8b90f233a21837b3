// Checks the learner's classify() (exercise of 04-kernels/11-after-the-fault).
#include "04-kernels/11-after-the-fault/action.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/child.hpp"

#include <string>

Action classify(CUresult result);

namespace {

const char* name(Action action) {
  switch (action) {
    case Action::none: return "none";
    case Action::retry: return "retry";
    case Action::shrink: return "shrink";
    case Action::reject: return "reject";
    case Action::restart: return "restart";
    case Action::drain: return "drain";
  }
  return "no action";
}

void expect(Action action, std::initializer_list<int> codes) {
  for (const int code : codes) {
    const auto result = static_cast<CUresult>(code);  // newer codes have no name in older headers
    INFO(code << ", " << cu::name(result));
    CHECK(std::string(name(classify(result))) == name(action));
  }
}

// Lets a kernel fault in a process of its own. Returns the fault, and what a new context gives afterwards.
std::string after_a_fault(const char* kernel) {
  const Child child = in_a_child([&] {
    CU_CHECK(cuInit(0));
    CUcontext context, another;
    CUmodule module;
    CUfunction function;
    CU_CHECK(cuCtxCreate(&context, nullptr, 0, 0));
    CU_CHECK(cuModuleLoad(&module, cu::image("check.ptx").c_str()));
    CU_CHECK(cuModuleGetFunction(&function, module, kernel));
    CUdeviceptr nowhere = 0;
    void* arguments[] = {&nowhere};
    CU_CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    const CUresult fault = cuCtxSynchronize();
    const bool lost = cuCtxDestroy(context) == CUDA_SUCCESS && cuCtxCreate(&another, nullptr, 0, 0) != CUDA_SUCCESS;
    return std::string(lost ? "lost " : "usable ") + name(classify(fault));
  });
  return child.returned;
}

}  // namespace

TEST_CASE("success needs no action") { expect(Action::none, {CUDA_SUCCESS}); }

TEST_CASE("what is only not ready yet is tried again") {
  expect(Action::retry, {CUDA_ERROR_NOT_READY, CUDA_ERROR_DEVICE_UNAVAILABLE, CUDA_ERROR_MPS_SERVER_NOT_READY});
}

TEST_CASE("a batch that does not fit into memory is made smaller") {
  expect(Action::shrink, {CUDA_ERROR_OUT_OF_MEMORY});
}

TEST_CASE("a call that is wrong is rejected, and the process stays") {
  expect(Action::reject, {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_INVALID_HANDLE,
                          CUDA_ERROR_NOT_FOUND, CUDA_ERROR_INVALID_PTX, CUDA_ERROR_NOT_SUPPORTED});
}

TEST_CASE("a launch with too many threads is rejected: a smaller batch does not help") {
  expect(Action::reject, {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE});
}

TEST_CASE("if the manual says that the process must be terminated, it is restarted") {
  expect(Action::restart, {226, 700, 702, 714, 715, 716, 717, 718, 719, 721, 810, 911});
}

TEST_CASE("after a fault that really happened, the process is restarted") {
  CHECK(after_a_fault("store_to_nowhere") == "lost restart");
  CHECK(after_a_fault("fail_an_assertion") == "lost restart");
}

TEST_CASE("a process that was forked after cuInit is restarted") {
  expect(Action::restart, {CUDA_ERROR_NOT_INITIALIZED});
}

TEST_CASE("uncorrectable errors of the hardware drain the machine") {
  expect(Action::drain, {CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_NVLINK_UNCORRECTABLE});
}

TEST_CASE("a machine on which CUDA does not start is drained") {
  expect(Action::drain, {CUDA_ERROR_NO_DEVICE, CUDA_ERROR_SYSTEM_NOT_READY, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
                         CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE});
}
