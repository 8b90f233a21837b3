// CUB: algorithms for a device, for a block and for a warp.
#include "expect.hpp"

#include <cub/cub.cuh>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

// Calls twice, as CUB wants it: the first call only asks for the size of the scratch memory.
template <class Call>
void with_scratch(Call call) {
  std::size_t bytes = 0;
  EXPECT_SUCCESS(call(nullptr, bytes));
  void* scratch = nullptr;
  EXPECT_SUCCESS(cudaMalloc(&scratch, bytes));
  EXPECT_SUCCESS(call(scratch, bytes));
  EXPECT_SUCCESS(cudaFree(scratch));
}

template <class T>
struct Device {
  T* pointer = nullptr;
  std::size_t count;
  explicit Device(std::size_t n) : count(n) { EXPECT_SUCCESS(cudaMalloc(&pointer, n * sizeof(T))); }
  explicit Device(const std::vector<T>& from) : Device(from.size()) {
    EXPECT_SUCCESS(cudaMemcpy(pointer, from.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Device() { cudaFree(pointer); }
  std::vector<T> host() const {
    std::vector<T> to(count);
    EXPECT_SUCCESS(cudaMemcpy(to.data(), pointer, count * sizeof(T), cudaMemcpyDeviceToHost));
    return to;
  }
};

static __global__ void in_blocks(const int* from, int* sums, int* scanned) {
  using Reduce = cub::BlockReduce<int, 128>;
  using Scan = cub::BlockScan<int, 128>;
  using Warp = cub::WarpReduce<int>;
  __shared__ union {
    Reduce::TempStorage reduce;
    Scan::TempStorage scan;
    Warp::TempStorage warp[4];
  } scratch;
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int sum = Reduce(scratch.reduce).Sum(from[i]);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  __syncthreads();
  int prefix = 0;
  Scan(scratch.scan).ExclusiveSum(from[i], prefix);
  scanned[i] = prefix;
  __syncthreads();
  const int warp = Warp(scratch.warp[threadIdx.x / 32]).Sum(from[i]);
  if (threadIdx.x == 0) sums[gridDim.x + blockIdx.x] = warp;
}

int main() {
  constexpr int kCount = 64 * 1024;
  std::mt19937 random(11);
  std::vector<int> numbers(kCount);
  for (int& number : numbers) number = static_cast<int>(random() % 1000) - 500;
  const Device<int> input(numbers);
  Device<int> output(kCount), one(1);

  with_scratch([&](void* p, std::size_t& n) {
    return cub::DeviceRadixSort::SortKeys(p, n, input.pointer, output.pointer, kCount);
  });
  std::vector<int> sorted = numbers;
  std::sort(sorted.begin(), sorted.end());
  EXPECT(output.host() == sorted);

  const Device<int> ordered(sorted);
  with_scratch([&](void* p, std::size_t& n) {
    return cub::DeviceSelect::Unique(p, n, ordered.pointer, output.pointer, one.pointer, kCount);
  });
  std::vector<int> unique = sorted;
  unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
  EXPECT(one.host()[0] == static_cast<int>(unique.size()));

  with_scratch([&](void* p, std::size_t& n) {
    return cub::DeviceReduce::Sum(p, n, input.pointer, one.pointer, kCount);
  });
  EXPECT(one.host()[0] == std::accumulate(numbers.begin(), numbers.end(), 0));

  with_scratch([&](void* p, std::size_t& n) {
    return cub::DeviceScan::ExclusiveSum(p, n, input.pointer, output.pointer, kCount);
  });
  std::vector<int> prefix(kCount);
  std::exclusive_scan(numbers.begin(), numbers.end(), prefix.begin(), 0);
  EXPECT(output.host() == prefix);

  Device<int> bins(10);
  with_scratch([&](void* p, std::size_t& n) {
    return cub::DeviceHistogram::HistogramEven(p, n, input.pointer, bins.pointer, 11, -500, 500, kCount);
  });
  std::vector<int> counted(10);
  for (const int number : numbers) ++counted[(number + 500) / 100];
  EXPECT(bins.host() == counted);

  Device<int> sums(2 * kCount / 128);
  in_blocks<<<kCount / 128, 128>>>(input.pointer, sums.pointer, output.pointer);
  EXPECT_SUCCESS(cudaGetLastError());
  const std::vector<int> of_blocks = sums.host(), scanned = output.host();
  for (int block = 0; block < kCount / 128; ++block) {
    const auto begin = numbers.begin() + block * 128;
    EXPECT(of_blocks[block] == std::accumulate(begin, begin + 128, 0));
    EXPECT(of_blocks[kCount / 128 + block] == std::accumulate(begin, begin + 32, 0));
    EXPECT(scanned[block * 128 + 127] == std::accumulate(begin, begin + 127, 0));
  }
  return mistakes();
}
