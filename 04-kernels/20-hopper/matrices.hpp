// The numbers that this lesson multiplies, and what the CPU says of the result.
#pragma once
#include "common/cu.hpp"
#include "common/product.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

// A float's upper half, rounded to the nearest, is a bfloat16.
inline std::uint16_t bfloat16(float number) {
  std::uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Three matrices, c = a × b. Their numbers are whole, from -8 to 8: every order of adding is exact, and c is rounded
// once.
struct Matrices {
  int n;
  std::size_t count = std::size_t(n) * n;
  cu::Memory a{2 * count}, b{2 * count}, c{2 * count};
  std::vector<float> host_a, host_b;

  explicit Matrices(int side) : n(side), host_a(count), host_b(count) {
    std::vector<std::uint16_t> numbers(count);
    auto fill = [&](std::vector<float>& host, const cu::Memory& memory, unsigned factor) {
      for (std::size_t i = 0; i < count; ++i) {
        host[i] = static_cast<float>(static_cast<int>((i * factor >> 13) % 17) - 8);
        numbers[i] = bfloat16(host[i]);
      }
      CU_CHECK(cuMemcpyHtoD(memory.address, numbers.data(), 2 * count));
    };
    fill(host_a, a, 2654435761u);
    fill(host_b, b, 2246822519u);
    forget();
  }

  // What a kernel leaves out must not be there from the one before.
  void forget() const { CU_CHECK(cuMemsetD8(c.address, 0xff, 2 * count)); }

  bool right() const {
    std::vector<std::uint16_t> got(count);
    CU_CHECK(cuMemcpyDtoH(got.data(), c.address, 2 * count));
    forget();
    return cu::sampled_product(host_a, host_b, n, [&](std::size_t at, float sum) { return got[at] == bfloat16(sum); });
  }
};
