// Applies the compatibility rules to every toolkit since 8.0 and tries its PTX on this driver.
#include "common/cu.hpp"
#include "common/toolkits.hpp"

#include <dlfcn.h>

// Versions are encoded as 1000 · major + 10 · minor.
std::string as_text(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

// The version that a library reports about itself, or "not found". The library is looked up by name, as it would be for
// a program that needs it, and stays loaded until this program ends.
std::string version_in(const std::string& library, const char* function) {
  void* opened = dlopen(library.c_str(), RTLD_LAZY);
  void* found = opened ? dlsym(opened, function) : nullptr;
  if (!found) return "not found";
  int version = 0;
  if (std::string(function) == "nvrtcVersion") {
    int major = 0, minor = 0;
    reinterpret_cast<int (*)(int*, int*)>(found)(&major, &minor);
    version = 1000 * major + 10 * minor;
  } else {
    reinterpret_cast<int (*)(int*)>(found)(&version);
  }
  return as_text(version);
}

// Loads an empty kernel, written in the PTX version of this toolkit.
CUresult load_ptx_of(const cu::Toolkit& toolkit) {
  std::string ptx = std::string(".version ") + toolkit.ptx;
  ptx += toolkit.major < 13 ? "\n.target sm_50" : "\n.target sm_75";
  ptx += "\n.address_size 64\n.visible .entry nothing() { ret; }\n";
  CUmodule module = nullptr;
  const CUresult result = cuModuleLoadData(&module, ptx.c_str());
  if (result == CUDA_SUCCESS) CU_CHECK(cuModuleUnload(module));
  return result;
}

int main() {
  int driver = 0;
  CU_CHECK(cuDriverGetVersion(&driver));
  const std::string major = std::to_string(CUDA_VERSION / 1000);
  std::printf("driver    %s\n", as_text(driver).c_str());
  std::printf("headers   %s\n", as_text(CUDA_VERSION).c_str());
  std::printf("libcudart %s\n", version_in("libcudart.so." + major, "cudaRuntimeGetVersion").c_str());
  std::printf("NVRTC     %s\n", version_in("libnvrtc.so." + major, "nvrtcVersion").c_str());
  std::printf("g++       %s\n\n", __VERSION__);

  CU_CHECK(cuInit(0));
  CUdevice device = 0;
  CU_CHECK(cuDeviceGet(&device, 0));
  CUcontext context = nullptr;
  CU_CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CU_CHECK(cuCtxSetCurrent(context));

  bool passed = true;
  std::string newest;  // the newest PTX version that this driver should accept
  std::printf("toolkit | its driver | its programs here  | its PTX here   | nvcc accepts\n");
  for (const cu::Toolkit& toolkit : cu::toolkits) {
    const int built = 1000 * toolkit.major + 10 * toolkit.minor;
    const bool same_major = toolkit.major >= 11 && toolkit.major == driver / 1000;
    const char* programs = built <= driver ? "start" : same_major ? "start (same major)" : "need cuda-compat";
    if (built <= driver) newest = toolkit.ptx;
    const CUresult result = load_ptx_of(toolkit);
    passed &= result == (toolkit.ptx == newest ? CUDA_SUCCESS : CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    const std::string loaded = result == CUDA_SUCCESS ? "loads" : "error " + std::to_string(result);
    std::printf("%4d.%d  | %-10s | %-18s | ", toolkit.major, toolkit.minor, *toolkit.driver ? toolkit.driver : "-",
                programs);
    std::printf("%s: %-9s | g++ up to %d\n", toolkit.ptx, loaded.c_str(), toolkit.gcc);
  }
  CU_CHECK(cuDevicePrimaryCtxRelease(device));
  return passed ? 0 : 1;
}
