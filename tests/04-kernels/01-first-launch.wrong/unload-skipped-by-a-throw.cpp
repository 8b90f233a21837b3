// Rejected with: "a missing kernel leaves no module loaded"
// The module is unloaded at the end of the function, which an exception skips.
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
