// Rejected with: "the module's memory is released"
// A module contains more than code: its variables occupy device memory until it is unloaded.
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
}
