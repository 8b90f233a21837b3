// A kernel goes wrong, and somebody else is blamed for it: which call says so, and what still works afterwards.
#include "common/cu.hpp"
#include "common/image.hpp"

#include <sys/wait.h>
#include <unistd.h>

// Prints a call and what it answers.
CUresult say(const char* call, CUresult result) {
  std::printf("  %-26s  %s\n", call, cu::name(result));
  return result;
}

struct Kernels {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction guilty, innocent, talk, claim;
  CUdeviceptr number;
};

// All raw: after a fault, nothing can be released but the context. Where there is none, the process's end does it.
Kernels load() {
  Kernels kernels;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGet(&kernels.device, 0));
  CU_CHECK(cuCtxCreate(&kernels.context, nullptr, 0, kernels.device));
  CU_CHECK(cuModuleLoad(&kernels.module, cu::image("kernels.ptx").c_str()));
  CU_CHECK(cuModuleGetFunction(&kernels.guilty, kernels.module, "guilty"));
  CU_CHECK(cuModuleGetFunction(&kernels.innocent, kernels.module, "innocent"));
  CU_CHECK(cuModuleGetFunction(&kernels.talk, kernels.module, "talk"));
  CU_CHECK(cuModuleGetFunction(&kernels.claim, kernels.module, "claim"));
  CU_CHECK(cuMemAlloc(&kernels.number, sizeof(int)));
  return kernels;
}

// Where nothing has gone wrong.
CUresult release(const Kernels& kernels) {
  CU_CHECK(cuMemFree(kernels.number));
  CU_CHECK(cuModuleUnload(kernels.module));
  return cuCtxDestroy(kernels.context);
}

// A guilty launch, an innocent one, and everything that comes after them.
bool blame(CUresult launch_answers) {
  Kernels kernels = load();
  CUdeviceptr nowhere = 0, other;
  int number;
  void* to_nowhere[] = {&nowhere};
  void* to_number[] = {&kernels.number};
  const CUresult fault = CUDA_ERROR_ILLEGAL_ADDRESS;
  auto launch = [](CUfunction kernel, void** arguments) {
    return cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
  };
  bool as_expected = say("cuLaunchKernel guilty", launch(kernels.guilty, to_nowhere)) == launch_answers;
  as_expected &= say("cuLaunchKernel innocent", launch(kernels.innocent, to_number)) == launch_answers;
  as_expected &= say("cuMemcpyDtoH", cuMemcpyDtoH(&number, kernels.number, sizeof number)) == fault;
  as_expected &= say("cuMemAlloc", cuMemAlloc(&other, sizeof(int))) == fault;
  as_expected &= say("cuCtxDestroy", cuCtxDestroy(kernels.context)) == CUDA_SUCCESS;
  as_expected &= say("cuCtxCreate", cuCtxCreate(&kernels.context, nullptr, 0, kernels.device)) == fault;
  return as_expected;
}

bool late() { return blame(CUDA_SUCCESS); }

// The driver reads the variable in cuInit: too late for a program that has called it already.
bool blocking() {
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  return blame(CUDA_ERROR_ILLEGAL_ADDRESS);
}

// What a kernel prints is kept on the device, and comes out when somebody waits.
bool printing() {
  const Kernels kernels = load();
  int number = 5;
  void* arguments[] = {&number};
  const CUresult launched = cuLaunchKernel(kernels.talk, 1, 1, 1, 2, 1, 1, 0, nullptr, arguments, nullptr);
  bool as_expected = say("cuLaunchKernel talk", launched) == CUDA_SUCCESS;
  std::fflush(stdout);  // what the kernel prints does not go through our buffer, and comes next
  as_expected &= say("cuCtxSynchronize", cuCtxSynchronize()) == CUDA_SUCCESS;
  CU_CHECK(release(kernels));
  return as_expected;
}

bool asserting() {
  const Kernels kernels = load();
  int number = 5;
  void* arguments[] = {&number};
  const CUresult launched = cuLaunchKernel(kernels.claim, 1, 1, 1, 2, 1, 1, 0, nullptr, arguments, nullptr);
  const bool as_expected = say("cuLaunchKernel claim", launched) == CUDA_SUCCESS;
  return say("cuCtxSynchronize", cuCtxSynchronize()) == CUDA_ERROR_ASSERT && as_expected;
}

bool fresh() {
  const Kernels kernels = load();
  return say("cuCtxDestroy", release(kernels)) == CUDA_SUCCESS;
}

// In a process of its own, since a fault is for the rest of its life.
bool in_child(const char* title, bool (*scene)()) {
  std::printf("%s\n", title);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) std::exit(scene() ? 0 : 1);
  int status;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main() {
  bool as_expected = in_child("a kernel stores to address 0", late);
  as_expected &= in_child("\nthe same, with CUDA_LAUNCH_BLOCKING=1", blocking);
  as_expected &= in_child("\nprintf in a kernel", printing);
  as_expected &= in_child("\nassert in a kernel", asserting);
  as_expected &= in_child("\na new process", fresh);
  return as_expected ? 0 : 1;
}
