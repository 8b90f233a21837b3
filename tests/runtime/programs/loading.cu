// Loads and closes a library with kernels, several times. The program has the same template, and a variable of the same
// name. An object frees its memory after main().
#include "expect.hpp"

#include <dlfcn.h>

#include <string>

static __device__ int calls = 50;
template <class T>
__global__ void scale(T* to, T factor) {
  to[threadIdx.x] *= factor;
}

struct Late {
  float* memory = nullptr;
  ~Late() {
    const cudaError_t result = cudaFree(memory);
    if (result != cudaSuccess && result != cudaErrorCudartUnloading)
      std::printf("late: %s\n", cudaGetErrorName(result));
  }
} late;

int main(int, char** words) {
  const std::string path = std::string(words[0]) + ".plugin.so";
  EXPECT_SUCCESS(cudaMallocManaged(&late.memory, 4 * sizeof(float)));
  float* p = late.memory;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) p[i] = static_cast<float>(i);
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT(library != nullptr);
    if (library == nullptr) return 1;
    const auto plugin_scale = reinterpret_cast<int (*)(float*, float)>(dlsym(library, "plugin_scale"));
    EXPECT(plugin_scale(p, 3) == 1);
    EXPECT(plugin_scale(p, 2) == 2);
    EXPECT_SUCCESS(cudaDeviceSynchronize());
    EXPECT(p[3] == 18);
    EXPECT(dlclose(library) == 0);
    scale<<<1, 4>>>(p, 2.0f);
    EXPECT_SUCCESS(cudaDeviceSynchronize());
    EXPECT(p[3] == 36);
  }
  int count = 0;
  EXPECT_SUCCESS(cudaMemcpyFromSymbol(&count, calls, sizeof count));
  EXPECT(count == 50);
  return mistakes();
}
