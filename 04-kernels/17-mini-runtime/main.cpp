// An ordinary CUDA program with <<< >>>, cudaMalloc and a __constant__ variable. nvcc compiles it, and it is linked
// with the runtime in this folder instead of the toolkit's. It prints the driver calls that each runtime call makes.
#include "04-kernels/17-mini-runtime/runtime.hpp"
#include "kernels.cu"

#include <cstdio>
#include <cstdlib>

// Prints a runtime call and the driver calls that it has made.
void show(const char* what) {
  std::printf("%-26s|", what);
  for (const std::string& call : mini::driver_calls()) std::printf(" %s", call.c_str());
  std::printf("\n");
}

// The usual check of a CUDA program: names the call that failed, and exits.
void check(const char* what, cudaError_t error) {
  show(what);
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

  std::printf("%-26s| driver calls\n", "runtime call");
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
