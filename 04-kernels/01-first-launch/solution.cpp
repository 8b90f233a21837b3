// Run one thread of a kernel, from an image on disk.
#include "common/cu.hpp"

#include <string>

// Loads the file `image`, launches one thread of its kernel `kernel` with one argument (a device address), waits until
// the thread has finished, and unloads the module on every path. A context is current. Throws cu::Error if a driver
// call or the kernel fails (CU_THROW).
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
  CU_THROW(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  CU_THROW(cuCtxSynchronize());
}
