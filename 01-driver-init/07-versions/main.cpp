// What works with what on this machine: the rules for every toolkit since 8.0, each tried out on this driver.
#include "common/cu.hpp"
#include "common/toolkits.hpp"

#include <dlfcn.h>

// Versions are counted as 1000 · major + 10 · minor.
std::string as_text(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

// What a library says about its version; looked for as a program would look, and open until this one ends.
std::string version_in(const std::string& library, const char* function) {
  void* opened = dlopen(library.c_str(), RTLD_LAZY);
  void* found = opened ? dlsym(opened, function) : nullptr;
  if (!found) return "none";
  int version = 0, major = 0, minor = 0;
  if (std::string(function) == "nvrtcVersion") {
    reinterpret_cast<int (*)(int*, int*)>(found)(&major, &minor);
    version = 1000 * major + 10 * minor;
  } else {
    reinterpret_cast<int (*)(int*)>(found)(&version);
  }
  return as_text(version);
}

int main() try {
  cu::Context context;  // PTX is loaded into one; chapter 02 is about them
  int driver;
  CU_CHECK(cuDriverGetVersion(&driver));
  const std::string major = std::to_string(CUDA_VERSION / 1000);
  std::printf("driver   %s\n", as_text(driver).c_str());
  std::printf("headers  %s\n", as_text(CUDA_VERSION).c_str());
  std::printf("runtime  %s\n", version_in("libcudart.so." + major, "cudaRuntimeGetVersion").c_str());
  std::printf("NVRTC    %s\n", version_in("libnvrtc.so." + major, "nvrtcVersion").c_str());
  std::printf("compiler %s\n\n", __VERSION__);

  bool right = true;
  std::string newest;  // the PTX version of this driver
  std::printf("toolkit | its driver | its programs here | its PTX here   | its nvcc takes\n");
  for (const cu::Toolkit& one : cu::toolkits) {
    const bool served = one.major * 1000 + one.minor * 10 <= driver;
    const bool family = one.major >= 11 && one.major == driver / 1000;
    const char* program = served ? "start" : family ? "start: same major" : "cuda-compat only";
    if (served) newest = one.ptx;
    std::string image = std::string(".version ") + one.ptx + "\n.target " + (one.major < 13 ? "sm_50" : "sm_75");
    image += "\n.address_size 64\n.visible .entry nothing() { ret; }\n";
    CUmodule module;
    const CUresult answer = cuModuleLoadData(&module, image.c_str());
    const std::string loaded = answer == CUDA_SUCCESS ? "loads" : "error " + std::to_string(answer);
    if (answer == CUDA_SUCCESS) CU_CHECK(cuModuleUnload(module));
    right &= answer == (newest == one.ptx ? CUDA_SUCCESS : CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    std::printf("%4d.%d  | %-10s | %-17s | ", one.major, one.minor, *one.driver ? one.driver : "-", program);
    std::printf("%s: %-9s | g++ up to %d\n", one.ptx, loaded.c_str(), one.gcc);
  }
  return right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
