// A kernel faults, and a later call reports it. Shows which call that is, and what still works afterwards.
#include "common/cu.hpp"
#include "common/image.hpp"

#include <sys/wait.h>
#include <unistd.h>

// Prints a call and its result.
CUresult row(const char* call, CUresult result) {
  std::printf("  %-26s  %s\n", call, cu::name(result));
  return result;
}

struct Kernels {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction guilty, innocent, print, check;
  CUdeviceptr number;
};

// No owners here: after a fault, only the context can be destroyed. The end of the process releases the rest.
Kernels load() {
  Kernels kernels;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGet(&kernels.device, 0));
  CU_CHECK(cuCtxCreate(&kernels.context, nullptr, 0, kernels.device));
  CU_CHECK(cuModuleLoad(&kernels.module, cu::image("kernels.ptx").c_str()));
  CU_CHECK(cuModuleGetFunction(&kernels.guilty, kernels.module, "guilty"));
  CU_CHECK(cuModuleGetFunction(&kernels.innocent, kernels.module, "innocent"));
  CU_CHECK(cuModuleGetFunction(&kernels.print, kernels.module, "print"));
  CU_CHECK(cuModuleGetFunction(&kernels.check, kernels.module, "check"));
  CU_CHECK(cuMemAlloc(&kernels.number, sizeof(int)));
  return kernels;
}

// Releases everything, in a process without a fault.
CUresult release(const Kernels& kernels) {
  CU_CHECK(cuMemFree(kernels.number));
  CU_CHECK(cuModuleUnload(kernels.module));
  return cuCtxDestroy(kernels.context);
}

// Launches the kernel that faults, then one that does not, then makes other calls. Returns whether each result is as
// expected; `launch_result` is the expected result of both launches.
bool blame(CUresult launch_result) {
  Kernels kernels = load();
  CUdeviceptr nowhere = 0;
  void* to_nowhere[] = {&nowhere};
  void* to_number[] = {&kernels.number};
  const CUresult fault = CUDA_ERROR_ILLEGAL_ADDRESS;
  auto launch = [](CUfunction kernel, void** arguments) {
    return cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
  };
  bool as_expected = row("cuLaunchKernel guilty", launch(kernels.guilty, to_nowhere)) == launch_result;
  as_expected &= row("cuLaunchKernel innocent", launch(kernels.innocent, to_number)) == launch_result;
  int number;
  as_expected &= row("cuMemcpyDtoH", cuMemcpyDtoH(&number, kernels.number, sizeof number)) == fault;
  CUdeviceptr other;
  as_expected &= row("cuMemAlloc", cuMemAlloc(&other, sizeof(int))) == fault;
  as_expected &= row("cuCtxDestroy", cuCtxDestroy(kernels.context)) == CUDA_SUCCESS;
  as_expected &= row("cuCtxCreate", cuCtxCreate(&kernels.context, nullptr, 0, kernels.device)) == fault;
  return as_expected;
}

bool late() { return blame(CUDA_SUCCESS); }

// cuInit reads the variable, so it has no effect in a program that has already called cuInit.
bool blocking() {
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  return blame(CUDA_ERROR_ILLEGAL_ADDRESS);
}

// The output of a kernel is buffered on the device and printed no later than when the host waits.
bool printing() {
  const Kernels kernels = load();
  int number = 5;
  void* arguments[] = {&number};
  const CUresult launched = cuLaunchKernel(kernels.print, 1, 1, 1, 2, 1, 1, 0, nullptr, arguments, nullptr);
  bool as_expected = row("cuLaunchKernel print", launched) == CUDA_SUCCESS;
  std::fflush(stdout);  // the kernel's output does not pass through this buffer
  as_expected &= row("cuCtxSynchronize", cuCtxSynchronize()) == CUDA_SUCCESS;
  CU_CHECK(release(kernels));
  return as_expected;
}

bool asserting() {
  const Kernels kernels = load();
  int number = 5;
  void* arguments[] = {&number};
  const CUresult launched = cuLaunchKernel(kernels.check, 1, 1, 1, 2, 1, 1, 0, nullptr, arguments, nullptr);
  const bool as_expected = row("cuLaunchKernel check", launched) == CUDA_SUCCESS;
  return row("cuCtxSynchronize", cuCtxSynchronize()) == CUDA_ERROR_ASSERT && as_expected;
}

bool fresh() {
  const Kernels kernels = load();
  return row("cuCtxDestroy", release(kernels)) == CUDA_SUCCESS;
}

// Runs a scene in a process of its own, because a fault affects a process for the rest of its life.
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
