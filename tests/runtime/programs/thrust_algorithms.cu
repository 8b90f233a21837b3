// Thrust on the device, compared with the standard library on the host.
#include "expect.hpp"

#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/merge.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

struct Square {
  __host__ __device__ long long operator()(int x) const { return static_cast<long long>(x) * x; }
};
struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};

int main() {
  constexpr int kCount = 100003;
  std::mt19937 random(7);
  std::vector<int> numbers(kCount);
  for (int& number : numbers) number = static_cast<int>(random() % 5000);
  const thrust::device_vector<int> input(numbers.begin(), numbers.end());

  thrust::device_vector<int> sorted = input;
  thrust::sort(sorted.begin(), sorted.end());
  std::vector<int> expected = numbers;
  std::sort(expected.begin(), expected.end());
  EXPECT(thrust::host_vector<int>(sorted) == thrust::host_vector<int>(expected.begin(), expected.end()));

  thrust::device_vector<int> keys = input, values(kCount);
  thrust::sequence(values.begin(), values.end());
  thrust::stable_sort_by_key(keys.begin(), keys.end(), values.begin());
  std::vector<int> order(kCount);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return numbers[a] < numbers[b]; });
  EXPECT(thrust::host_vector<int>(values) == thrust::host_vector<int>(order.begin(), order.end()));

  EXPECT(thrust::reduce(input.begin(), input.end(), 0LL) == std::accumulate(numbers.begin(), numbers.end(), 0LL));
  EXPECT(*thrust::max_element(input.begin(), input.end()) == *std::max_element(numbers.begin(), numbers.end()));
  EXPECT(thrust::count_if(input.begin(), input.end(), IsOdd()) ==
         std::count_if(numbers.begin(), numbers.end(), IsOdd()));

  thrust::device_vector<long long> sums(kCount);
  thrust::inclusive_scan(input.begin(), input.end(), sums.begin(), thrust::plus<long long>());
  std::vector<long long> partial(kCount);
  std::partial_sum(numbers.begin(), numbers.end(), partial.begin(), std::plus<long long>());
  EXPECT(thrust::host_vector<long long>(sums) == thrust::host_vector<long long>(partial.begin(), partial.end()));

  const auto end = thrust::unique(sorted.begin(), sorted.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  EXPECT(end - sorted.begin() == static_cast<std::ptrdiff_t>(expected.size()));

  thrust::device_vector<long long> squares(kCount);
  thrust::transform(input.begin(), input.end(), squares.begin(), Square());
  long long sum = 0;
  for (const int number : numbers) sum += Square()(number);
  EXPECT(thrust::reduce(squares.begin(), squares.end()) == sum);
  EXPECT(thrust::transform_reduce(input.begin(), input.end(), Square(), 0LL, thrust::plus<long long>()) == sum);

  thrust::device_vector<int> odd(kCount);
  const auto odd_end = thrust::copy_if(input.begin(), input.end(), odd.begin(), IsOdd());
  std::vector<int> host_odd;
  std::copy_if(numbers.begin(), numbers.end(), std::back_inserter(host_odd), IsOdd());
  odd.resize(odd_end - odd.begin());
  EXPECT(thrust::host_vector<int>(odd) == thrust::host_vector<int>(host_odd.begin(), host_odd.end()));

  thrust::device_vector<int> totals(kCount), unique_keys(kCount);
  const auto ends = thrust::reduce_by_key(keys.begin(), keys.end(), thrust::constant_iterator<int>(1),
                                          unique_keys.begin(), totals.begin());
  EXPECT(ends.first - unique_keys.begin() == static_cast<std::ptrdiff_t>(expected.size()));
  EXPECT(thrust::reduce(totals.begin(), ends.second) == kCount);

  thrust::device_vector<int> merged(2 * kCount);
  thrust::merge(keys.begin(), keys.end(), keys.begin(), keys.end(), merged.begin());
  EXPECT(thrust::is_sorted(merged.begin(), merged.end()));
  return mistakes();
}
