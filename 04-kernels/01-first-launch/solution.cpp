// From an image on disk to one thread that has run.
#include "common/cu.hpp"

#include <string>

// Loads the file `image`, launches one thread of its function `kernel` with one argument, a device address, waits until
// it has run, and unloads the module. A context is current. Throws cu::Error if the driver refuses (CU_THROW).
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
