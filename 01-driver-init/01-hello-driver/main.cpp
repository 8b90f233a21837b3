// Wakes the driver up and asks it which version of CUDA it speaks.
#include <cuda.h>

#include <cstdio>

int main() {
  CUresult result = cuInit(0);
  if (result != CUDA_SUCCESS) {
    std::fprintf(stderr, "cuInit answered %d\n", result);
    return 1;
  }
  std::printf("The driver is there.\n");

  int version = 0;
  result = cuDriverGetVersion(&version);
  if (result != CUDA_SUCCESS) {
    std::fprintf(stderr, "cuDriverGetVersion answered %d\n", result);
    return 1;
  }
  std::printf("It answers %d: it speaks CUDA up to %d.%d.\n", version, version / 1000, version % 1000 / 10);
  std::printf("This program was compiled with the headers of CUDA %d.%d.\n", CUDA_VERSION / 1000,
              CUDA_VERSION % 1000 / 10);
  return 0;
}
