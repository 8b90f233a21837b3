// Asks the driver which CUDA version it supports, initializes it, and lists the NVIDIA libraries this process uses.
#include <cuda.h>

#include <cstdio>
#include <fstream>
#include <string>

// True if a file whose path contains `name` is loaded in this process. Linux lists all loaded files in a text file.
bool is_loaded(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(name) != std::string::npos) return true;
  }
  return false;
}

int main() {
  int version = 0;
  CUresult result = cuDriverGetVersion(&version);
  if (result != CUDA_SUCCESS) {
    std::fprintf(stderr, "cuDriverGetVersion failed with error %d\n", result);
    return 1;
  }
  std::printf("driver:  CUDA %d.%d (reported as %d)\n", version / 1000, version % 1000 / 10, version);
  std::printf("headers: CUDA %d.%d\n", CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);

  result = cuInit(0);
  if (result != CUDA_SUCCESS) {
    std::fprintf(stderr, "cuInit failed with error %d\n", result);
    return 1;
  }

  const bool driver = is_loaded("/libcuda.so");
  const bool runtime = is_loaded("/libcudart.so");
  std::printf("libcuda   (driver API):  %s\n", driver ? "loaded" : "not loaded");
  std::printf("libcudart (runtime API): %s\n", runtime ? "loaded" : "not loaded");
  return driver && !runtime ? 0 : 1;
}
