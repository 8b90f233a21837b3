// Rejected with: "every call is checked, and no module stays loaded"
// If the launch is rejected, nothing runs, and waiting succeeds at once.
#include "common/cu.hpp"

#include <string>

void run_one_thread(const std::string& image, const char* kernel, CUdeviceptr argument) {
  cu::Module module(image);
  void* arguments[] = {&argument};
  cuLaunchKernel(module.function(kernel), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
  CU_THROW(cuCtxSynchronize());
}
