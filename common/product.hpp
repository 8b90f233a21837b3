// What the CPU says of a product of matrices: a sample of it, for all of a large one would take minutes.
#pragma once
#include <cstddef>
#include <vector>

namespace cu {

// c = a × b, n × n numbers each: is right(place, number) true of 4099 numbers of c? They lie in each row and in each
// 128 × 128, for n up to 4096.
template <class Right>
bool sampled_product(const std::vector<float>& a, const std::vector<float>& b, std::size_t n, Right right) {
  for (std::size_t sample = 0; sample < 4099; ++sample) {
    const std::size_t row = sample % n, column = (sample * 2531 + sample / n) % n;
    float sum = 0;
    for (std::size_t k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    if (!right(row * n + column, sum)) return false;
  }
  return true;
}

}  // namespace cu
