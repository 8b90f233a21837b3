// Rejected with: "every call is checked, and no module stays loaded"
// A missing kernel is handled, but after a rejected launch, the module stays loaded.
#include "common/cu.hpp"

#include <string>

void run_one_thread(const std::string& image, const char* kernel, CUdeviceptr argument) {
  CUmodule module;
  CUfunction function;
  CU_THROW(cuModuleLoad(&module, image.c_str()));
  const CUresult found = cuModuleGetFunction(&function, module, kernel);
  if (found != CUDA_SUCCESS) cuModuleUnload(module);
  CU_THROW(found);
  void* arguments[] = {&argument};
  CU_THROW(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  CU_THROW(cuCtxSynchronize());
  CU_THROW(cuModuleUnload(module));
}
