// What works with what on this machine: the rules of compatibility for every toolkit since 8.0, each tried out on this
// driver.
#include "common/cu.hpp"

#include <dlfcn.h>

struct Toolkit {
  int major, minor;
  const char *driver, *ptx;  // the oldest that serves all of it; the PTX version that its nvcc writes
  int gcc;                   // the newest g++ that its nvcc takes
};

const Toolkit toolkits[] = {
#define TOOLKIT(...) {__VA_ARGS__},
#define FAMILY(...)
#include "common/toolkits.inc"
};

// What a library says about its version, as "13.0"; it is looked for as a program would look.
std::string version_in(const std::string& library, const char* function) {
  void* opened = dlopen(library.c_str(), RTLD_LAZY);
  void* found = opened ? dlsym(opened, function) : nullptr;
  if (!found) return "none";
  int version = 0, minor = 0;
  reinterpret_cast<int (*)(int*, int*)>(found)(&version, &minor);  // the runtime writes one number, NVRTC two
  dlclose(opened);
  if (version >= 1000) minor = version % 1000 / 10, version /= 1000;
  return std::to_string(version) + "." + std::to_string(minor);
}

int main() {
  cu::Context context;
  int driver;
  CU_CHECK(cuDriverGetVersion(&driver));
  const std::string major = std::to_string(CUDA_VERSION / 1000);
  std::printf("driver   %d.%d\n", driver / 1000, driver % 1000 / 10);
  std::printf("headers  %d.%d\n", CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
  std::printf("runtime  %s\n", version_in("libcudart.so." + major, "cudaRuntimeGetVersion").c_str());
  std::printf("NVRTC    %s\n", version_in("libnvrtc.so." + major, "nvrtcVersion").c_str());
  std::printf("compiler %s\n\n", __VERSION__);

  bool right = true;
  std::string newest;  // the PTX version of this driver
  std::printf("toolkit | its driver | its programs here | its PTX here   | its nvcc takes\n");
  for (const Toolkit& one : toolkits) {
    const bool served = one.major * 1000 + one.minor * 10 <= driver;
    const bool family = one.major >= 11 && one.major == driver / 1000;
    const char* program = served ? "start" : family ? "start: same major" : "do not start";
    if (served) newest = one.ptx;
    std::string image = std::string(".version ") + one.ptx + "\n.target " + (one.major < 13 ? "sm_50" : "sm_75");
    image += "\n.address_size 64\n.visible .entry nothing() { ret; }\n";
    CUmodule module;
    const CUresult answer = cuModuleLoadData(&module, image.c_str());
    const char* loaded = answer == CUDA_SUCCESS ? "loads" : "error 222";
    if (answer == CUDA_SUCCESS) CU_CHECK(cuModuleUnload(module));
    right &= answer == (newest == one.ptx ? CUDA_SUCCESS : CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    std::printf("%4d.%d  | %-10s | %-17s | ", one.major, one.minor, one.driver, program);
    std::printf("%s: %-9s | g++ up to %d\n", one.ptx, loaded, one.gcc);
  }
  return right ? 0 : 1;
}
