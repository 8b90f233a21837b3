// The same program with the runtime API. nvcc builds it in one step: nvcc twin.cu -o twin
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

__global__ void square(int* numbers, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) numbers[i] *= numbers[i];
}

void check(cudaError_t result) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(result));
  std::exit(EXIT_FAILURE);
}

int main() {
  int count = 1000;
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 1);
  std::size_t bytes = count * sizeof(int);

  int* memory;
  check(cudaMalloc(&memory, bytes));
  check(cudaMemcpy(memory, numbers.data(), bytes, cudaMemcpyHostToDevice));
  square<<<(count + 255) / 256, 256>>>(memory, count);
  check(cudaGetLastError());
  check(cudaMemcpy(numbers.data(), memory, bytes, cudaMemcpyDeviceToHost));
  check(cudaFree(memory));

  int squared = 0;
  for (int i = 0; i < count; ++i) squared += numbers[i] == (i + 1) * (i + 1);
  std::printf("%d of %d numbers are squared\n", squared, count);
  return squared == count ? 0 : 1;
}
