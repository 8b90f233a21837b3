// How exact the sums of the tensor cores are: sums of many products of e4m3 elements, as wgmma adds them.
#pragma once
#include "problem.hpp"

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

// The number that an element stands for: a sign, four bits of exponent, three of the fraction.
inline double value_of_e4m3(unsigned char bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

// What is multiplied: ones; random numbers between 1/2 and 1; the same with random signs.
enum class Products { kOnes, kPositive, kSigned };

class Sums {
 public:
  // `count` sums of `products` products.
  Sums(const Kernels& kernels, Products factors, int count, int products)
      : kernels_(kernels), products_(products), exact_(count), sums_(4 * count), start_(4 * count) {
    std::mt19937 random(products);
    std::vector<unsigned char> a(std::size_t(count) * products), b(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = element(random, factors), b[i] = element(random, factors);
      exact_[i / products] += value_of_e4m3(a[i]) * value_of_e4m3(b[i]);
    }
    for (const auto& [memory, from] : {std::pair{&a_, &a}, {&b_, &b}}) {
      *memory = cu::Memory(from->size());
      CU_CHECK(cuMemcpyHtoD(memory->address, from->data(), from->size()));
    }
    CU_CHECK(cuMemsetD32(start_.address, 0, count));
  }

  std::vector<float> results(bool promoted) {
    void* arguments[] = {&a_.address, &b_.address, &start_.address, &sums_.address, &products_, &promoted};
    std::vector<float> found(exact_.size());
    CU_CHECK(cuLaunchKernel(kernels_.hopper->function("add_products"), found.size(), 1, 1, kGroup, 1, 1, 0, nullptr,
                            arguments, nullptr));
    CU_CHECK(cuMemcpyDtoH(found.data(), sums_.address, 4 * found.size()));
    return found;
  }
  // The root mean square of the errors, relative to that of the sums.
  double error(bool promoted) {
    const std::vector<float> found = results(promoted);
    double errors = 0, squares = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      errors += (found[i] - exact_[i]) * (found[i] - exact_[i]), squares += exact_[i] * exact_[i];
    }
    return std::sqrt(errors / squares);
  }

 private:
  static unsigned char element(std::mt19937& random, Products factors) {
    if (factors == Products::kOnes) return 7 << 3;
    const auto bits = static_cast<unsigned>(random());
    return static_cast<unsigned char>(6 << 3 | (bits & 7) | (factors == Products::kSigned ? (bits >> 8 & 1) << 7 : 0));
  }

  const Kernels& kernels_;
  int products_;
  std::vector<double> exact_;
  cu::Memory a_, b_, sums_, start_;
};
