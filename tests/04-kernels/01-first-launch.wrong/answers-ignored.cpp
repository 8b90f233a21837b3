// Rejected with: "a missing kernel is reported"
// No call is checked: if the kernel is missing, nothing is launched, and the caller does not learn of it.
#include "common/cu.hpp"

#include <string>

void run_one_thread(const std::string& image, const char* kernel, CUdeviceptr argument) {
  CUmodule module = nullptr;
  cuModuleLoad(&module, image.c_str());
  CUfunction function = nullptr;
  cuModuleGetFunction(&function, module, kernel);
  void* arguments[] = {&argument};
  cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
  cuCtxSynchronize();
  cuModuleUnload(module);
}
