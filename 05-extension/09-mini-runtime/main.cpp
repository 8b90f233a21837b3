// An ordinary CUDA program: <<< >>>, cudaMalloc, a __constant__ variable. nvcc compiles it, but in place of the
// toolkit's runtime it is linked with the one in this folder, and prints what that asks of the driver.
#include "05-extension/09-mini-runtime/runtime.hpp"
#include "kernels.cu"

#include <cstdio>
#include <cstdlib>

// Prints what was done, and the driver calls that it took.
void shown(const char* what) {
  std::printf("%-26s|", what);
  for (const std::string& call : mini::driver_calls()) std::printf(" %s", call.c_str());
  std::printf("\n");
}

// As many a CUDA program has it.
void check(const char* what, cudaError_t error) {
  shown(what);
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(EXIT_FAILURE);
}

int main() {
  constexpr int kCount = 1000;
  constexpr std::size_t kBytes = kCount * sizeof(float);
  std::vector<float> host_x(kCount, 3), host_y(kCount, 1);
  const float two = 2;
  float *x, *y;

  std::printf("%-26s| what the driver is asked\n", "the program");
  check("cudaMalloc x", cudaMalloc(&x, kBytes));
  check("cudaMalloc y", cudaMalloc(&y, kBytes));
  check("cudaMemcpyToSymbol a", cudaMemcpyToSymbol(a, &two, sizeof two));
  check("cudaMemcpy x", cudaMemcpy(x, host_x.data(), kBytes, cudaMemcpyHostToDevice));
  check("cudaMemcpy y", cudaMemcpy(y, host_y.data(), kBytes, cudaMemcpyHostToDevice));

  saxpy<<<(kCount + 255) / 256, 256>>>(x, y, kCount);
  check("saxpy<<<4, 256>>>", cudaGetLastError());
  saxpy<<<(kCount + 255) / 256, 256>>>(x, y, kCount);
  check("saxpy once more", cudaGetLastError());

  check("cudaMemcpy back", cudaMemcpy(host_y.data(), y, kBytes, cudaMemcpyDeviceToHost));
  check("cudaFree y", cudaFree(y));
  check("cudaFree x", cudaFree(x));

  bool right = true;
  for (const float number : host_y) right = right && number == 2 * 3 + (2 * 3 + 1);
  std::printf("\ny[0] = %.0f, and all %d are %s.\n", host_y[0], kCount, right ? "right" : "WRONG");
  return right ? 0 : 1;
}
