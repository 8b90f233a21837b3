// Thrust and CUB: sort, scan, reduce, unique and transform, compared with the standard library on the host.
#include "expect.hpp"

#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

struct Triple {
  __host__ __device__ int operator()(int x) const { return 3 * x; }
};

static __global__ void in_blocks(const int* from, int* sums, int* scanned) {
  using Reduce = cub::BlockReduce<int, 128>;
  using Scan = cub::BlockScan<int, 128>;
  __shared__ union {
    Reduce::TempStorage reduce;
    Scan::TempStorage scan;
  } scratch;
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int sum = Reduce(scratch.reduce).Sum(from[i]);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  __syncthreads();
  Scan(scratch.scan).ExclusiveSum(from[i], scanned[i]);
}

// Calls twice, as CUB requires: the first call only asks for the size of the scratch memory.
template <class Call>
void with_scratch(Call call) {
  std::size_t bytes = 0;
  EXPECT_SUCCESS(call(nullptr, bytes));
  thrust::device_vector<char> scratch(bytes);
  EXPECT_SUCCESS(call(thrust::raw_pointer_cast(scratch.data()), bytes));
}

static std::vector<int> host(const thrust::device_vector<int>& from) {
  std::vector<int> to(from.size());
  thrust::copy(from.begin(), from.end(), to.begin());
  return to;
}

int main() {
  constexpr int kCount = 256 * 128;
  std::mt19937 random(7);
  std::vector<int> numbers(kCount);
  for (int& number : numbers) number = static_cast<int>(random() % 5000) - 2500;
  const thrust::device_vector<int> input = numbers;

  thrust::device_vector<int> sorted = input;
  thrust::sort(sorted.begin(), sorted.end());
  std::vector<int> expected = numbers;
  std::sort(expected.begin(), expected.end());
  EXPECT(host(sorted) == expected);

  const auto end = thrust::unique(sorted.begin(), sorted.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  sorted.erase(end, sorted.end());
  EXPECT(host(sorted) == expected);

  const int sum = std::accumulate(numbers.begin(), numbers.end(), 0);
  EXPECT(thrust::reduce(input.begin(), input.end()) == sum);

  thrust::device_vector<int> output(kCount);
  thrust::inclusive_scan(input.begin(), input.end(), output.begin());
  std::vector<int> prefix(kCount);
  std::partial_sum(numbers.begin(), numbers.end(), prefix.begin());
  EXPECT(host(output) == prefix);

  thrust::transform(input.begin(), input.end(), output.begin(), Triple());
  EXPECT(host(output)[77] == 3 * numbers[77]);

  const int* const from = thrust::raw_pointer_cast(input.data());
  int* const to = thrust::raw_pointer_cast(output.data());
  with_scratch([&](void* p, std::size_t& n) { return cub::DeviceReduce::Sum(p, n, from, to, kCount); });
  EXPECT(output[0] == sum);
  with_scratch([&](void* p, std::size_t& n) { return cub::DeviceScan::ExclusiveSum(p, n, from, to, kCount); });
  EXPECT(output[0] == 0 && output[kCount - 1] == prefix[kCount - 2]);

  thrust::device_vector<int> sums(kCount / 128);
  in_blocks<<<kCount / 128, 128>>>(from, thrust::raw_pointer_cast(sums.data()), to);
  EXPECT_SUCCESS(cudaDeviceSynchronize());
  const std::vector<int> of_blocks = host(sums), scanned = host(output);
  for (int block = 0; block < kCount / 128; ++block) {
    const auto begin = numbers.begin() + block * 128;
    EXPECT(of_blocks[block] == std::accumulate(begin, begin + 128, 0));
    EXPECT(scanned[block * 128 + 127] == std::accumulate(begin, begin + 127, 0));
  }
  return mistakes();
}
