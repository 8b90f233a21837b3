// Rejected with: "a kernel that is not there leaves no module behind"
// The module is unloaded, but an exception jumps over it.
#include "common/cu.hpp"

#include <string>

void run_one_thread(const std::string& image, const char* kernel, CUdeviceptr argument) {
  CUmodule module;
  CU_THROW(cuModuleLoad(&module, image.c_str()));
  CUfunction function;
  CU_THROW(cuModuleGetFunction(&function, module, kernel));
  void* arguments[] = {&argument};
  CU_THROW(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  CU_THROW(cuCtxSynchronize());
  CU_THROW(cuModuleUnload(module));
}
