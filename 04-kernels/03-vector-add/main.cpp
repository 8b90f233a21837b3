// Adds two vectors of 1000 elements with three kernels, and examines the memory after the last element.
#include "common/cu.hpp"
#include "common/image.hpp"

#include <vector>

constexpr int kElements = 1000;  // to be added
constexpr int kNeighbors = 24;   // other data in the same allocations, directly after the elements
constexpr int kBlock = 256;      // threads per block
constexpr int kAll = kElements + kNeighbors;
constexpr std::size_t kBytes = kAll * sizeof(float);

// The vectors a and b and their sums, each followed by its neighbors.
struct Vectors {
  cu::Memory a{kBytes}, b{kBytes}, sum{kBytes};
};

void fill(const Vectors& vectors) {
  std::vector<float> a(kAll), b(kAll), sum(kAll, -1.0f);
  for (int i = 0; i < kAll; ++i) {
    a[i] = i;
    b[i] = 2 * i;
  }
  CU_CHECK(cuMemcpyHtoD(vectors.a.address, a.data(), kBytes));
  CU_CHECK(cuMemcpyHtoD(vectors.b.address, b.data(), kBytes));
  CU_CHECK(cuMemcpyHtoD(vectors.sum.address, sum.data(), kBytes));
}

// Prints how many sums are right and how many neighbors have changed. Returns whether both counts are as expected.
bool inspect(const Vectors& vectors, int expected_right, int expected_overwritten) {
  std::vector<float> sum(kAll);
  CU_CHECK(cuMemcpyDtoH(sum.data(), vectors.sum.address, kBytes));
  int right = 0, overwritten = 0;
  for (int i = 0; i < kElements; ++i) right += sum[i] == 3.0f * i;
  for (int i = kElements; i < kAll; ++i) overwritten += sum[i] != -1.0f;
  std::printf("%4d of %d | %2d of %d\n", right, kElements, overwritten, kNeighbors);
  return right == expected_right && overwritten == expected_overwritten;
}

void launch(const cu::Module& module, const char* kernel, int blocks, const Vectors& vectors) {
  std::printf("%-15s | %7d | %9d | ", kernel, blocks, blocks * kBlock);
  CUdeviceptr a = vectors.a.address, b = vectors.b.address, sum = vectors.sum.address;
  long long n = kElements;
  void* arguments[] = {&a, &b, &sum, &n};
  CU_CHECK(cuLaunchKernel(module.function(kernel), blocks, 1, 1, kBlock, 1, 1, 0, nullptr, arguments, nullptr));
}

// Launches the unguarded kernel with a grid so large that it accesses addresses beyond all of the program's memory.
// After a fault, a context can only be destroyed, so this function has one of its own. Destroying it also releases its
// memory and its module, so nothing is released separately here.
CUresult run_out_of_bounds(int blocks) {
  cu::Context context;
  CUmodule module;
  CU_CHECK(cuModuleLoad(&module, cu::image("kernels.ptx").c_str()));
  CUfunction add_unguarded;
  CU_CHECK(cuModuleGetFunction(&add_unguarded, module, "add_unguarded"));
  CUdeviceptr memory;
  CU_CHECK(cuMemAlloc(&memory, kBytes));
  CU_CHECK(cuMemsetD8(memory, 0, kBytes));

  int n = kElements;
  void* arguments[] = {&memory, &memory, &memory, &n};
  CU_CHECK(cuLaunchKernel(add_unguarded, blocks, 1, 1, kBlock, 1, 1, 0, nullptr, arguments, nullptr));
  const CUresult result = cuCtxSynchronize();
  std::printf("add_unguarded   | %7d | %9d | %s\n", blocks, blocks * kBlock, cu::name(result));
  return result;
}

// Launches the three kernels with grids that stay within the allocations.
bool run_within_allocations() {
  cu::Primary context;
  cu::Module module(cu::image("kernels.ptx"));
  Vectors vectors;
  const int blocks = (kElements + kBlock - 1) / kBlock;  // rounded up: 4 blocks, 1024 threads

  fill(vectors);
  launch(module, "add", blocks, vectors);
  const bool guarded = inspect(vectors, kElements, 0);

  fill(vectors);
  launch(module, "add_unguarded", blocks, vectors);
  const bool unguarded = inspect(vectors, kElements, kNeighbors);

  fill(vectors);
  launch(module, "add_grid_stride", blocks / 2, vectors);
  const bool grid_stride = inspect(vectors, kElements, 0);

  return guarded && unguarded && grid_stride;
}

int main() try {
  std::printf("kernel          |  blocks |   threads | sums right   | neighbors overwritten\n");
  const bool near_as_expected = run_within_allocations();
  const CUresult far_out = run_out_of_bounds(1 << 20);
  return near_as_expected && far_out == CUDA_ERROR_ILLEGAL_ADDRESS ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
